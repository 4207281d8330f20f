"""The ten steps of the story, in order."""

from specviz.story_how import ACCEPTANCE, BONUS, IDEA, REJECTION, ROUND, SLOW
from specviz.story_when import ENGINEER, PAYS, SAME, THEATRE

STEPS = (SLOW, IDEA, ROUND, ACCEPTANCE, REJECTION, BONUS, SAME, PAYS, THEATRE, ENGINEER)

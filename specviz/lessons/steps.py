"""The ten steps of the story, in order."""

from specviz.lessons.how import ACCEPTANCE, BONUS, IDEA, REJECTION, ROUND, SLOW
from specviz.lessons.when import ENGINEER, PAYS, SAME, THEATRE

STEPS = (SLOW, IDEA, ROUND, ACCEPTANCE, REJECTION, BONUS, SAME, PAYS, THEATRE, ENGINEER)

"""The ten steps of the story, in order."""

from specviz.data.lessons.story_basics import ACCEPTANCE, BONUS, IDEA, REJECTION, ROUND, SLOW
from specviz.data.lessons.story_payoff import ENGINEER, PAYS, SAME, THEATRE

STEPS = (SLOW, IDEA, ROUND, ACCEPTANCE, REJECTION, BONUS, SAME, PAYS, THEATRE, ENGINEER)

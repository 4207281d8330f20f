"""The ten steps of the story, in order."""

from specviz.data.lessons.story_basics import ACCEPTANCE, BONUS, IDEA, REJECTION, ROUND, SLOW
from specviz.data.lessons.story_payoff import ENGINEER, NO_GAIN, PAYS, SAME

STEPS = (SLOW, IDEA, ROUND, ACCEPTANCE, REJECTION, BONUS, SAME, PAYS, NO_GAIN, ENGINEER)

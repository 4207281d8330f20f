"""The steps of the story, in order."""

from specviz.data.lessons.story_basics import ACCEPTANCE, BONUS, IDEA, REJECTION, ROUND, SLOW
from specviz.data.lessons.story_inside import ARITHMETIC, SAMPLED
from specviz.data.lessons.story_methods import HEAD, TREE
from specviz.data.lessons.story_payoff import ENGINEER, NO_GAIN, PAYS, SAME, TOGETHER

STEPS = (
    *(SLOW, IDEA, ROUND, ACCEPTANCE, REJECTION, BONUS, SAME, SAMPLED, ARITHMETIC, PAYS, NO_GAIN, TOGETHER, ENGINEER),
    *(HEAD, TREE),
)
# What numbers in links mean: the steps of the story before others were added.
NUMBERED = (SLOW, IDEA, ROUND, ACCEPTANCE, REJECTION, BONUS, SAME, PAYS, NO_GAIN, ENGINEER)

"""Prompts that only sweeps measure, beside those of the menus, so that a verdict over prompts is possible.

Written for this project. As in `specviz.data.workloads`, the text of a name never changes: append only.
"""

from random import Random

from specviz.data.grammars import Grammar

_RANDOM_WORDS = (
    "amber anvil basket blink candle cinder copper dagger drizzle ember fathom ferry gravel hinge hollow "
    "ink jigsaw kettle ladder lantern marble nettle orbit paddle pebble quarrel quilt ribbon saddle "
    "thimble thunder umber velvet walnut whistle yonder zigzag of under seven never because almost green"
)


def random_words(seed: int, count: int = 30) -> str:
    """The same words for the same seed everywhere: Python guarantees this for `Random.random` only."""
    rng, words = Random(seed), _RANDOM_WORDS.split()
    return " ".join(words[int(rng.random() * len(words))] for _ in range(count))


_STORY = (
    "Ben and his dog Max went for a walk in the park. Max saw a squirrel and",
    "One sunny morning, a small yellow duck woke up and looked for her mother. She",
    'Anna wanted to bake a cake for her dad. "Can you help me?" she asked her grandma. Grandma',
    "There was once a king who had a very big garden. In the garden stood an apple tree, and on the tree",
    "Leo could not sleep. He heard a soft noise outside his window. He got up and",
)

_CODE = (
    'def count_words(text):\n    """Return how often each word occurs."""\n    counts = {}\n'
    "    for word in text.split():",
    "class Point:\n    def __init__(self, x, y):\n"
    "        self.x = x\n        self.y = y\n\n    def __add__(self, other):",
    "def binary_search(items, wanted):\n    low = 0\n    high = len(items) - 1\n    while low <= high:",
    "import json\n\n\ndef load_config(path):\n    with open(path) as f:\n        config = json.load(f)\n    if",
    "    def close(self):\n        if self._closed:\n            return\n        self._closed = True\n        try:",
)

_STRUCTURED = (
    "[server]\nhost = localhost\nport = 8080\ndebug = false\n\n[database]\nhost = localhost\nport =",
    '[\n  {"user": "ana", "active": true, "score": 12},\n  {"user": "ben", "active": false, "score": 7},\n  {"user":',
    "id,name,price,stock\n1,pencil,0.50,120\n2,notebook,2.75,40\n3,",
    "<order>\n  <id>1001</id>\n  <customer>\n    <name>Smith</name>\n    <city>Leeds</city>\n  </customer>\n  <items>",
    "SELECT o.order_id, c.name, o.total\nFROM orders o\nJOIN customers c ON c.customer_id = o.customer_id\nWHERE",
)

_BOILERPLATE = (
    "import os\nimport re\nimport sys\nimport json\nimport logging\n\nlogger = logging.getLogger(__name__)\n\n\nclass",
    "    def get_name(self):\n        return self.name\n\n    def set_name(self, name):\n        self.name = name\n\n"
    "    def get_size(self):",
    "def test_add():\n    assert add(1, 2) == 3\n\n\ndef test_subtract():\n    assert subtract(3, 2) == 1\n\n\ndef",
    "    def __init__(self, name, size, color, parent=None):\n        self.name = name\n        self.size = size",
    '<ul>\n  <li><a href="/home">Home</a></li>\n  <li><a href="/about">About</a></li>\n  <li><a href=',
)

_CONSTRAINED: tuple[tuple[str, Grammar], ...] = (
    (
        "09:00 open\n09:30 meeting\n10:15 call\n11:00",
        Grammar("regex", r" (open|meeting|call|break|lunch|close)(\n(0[0-9]|1[0-9]|2[0-3]):[0-5][0-9] [a-z]{4,8}){5}"),
    ),
    (
        "red=255,0,0\ngreen=0,255,0\nblue=0,0,255\nblack=",
        Grammar("regex", r"[0-9]{1,3},[0-9]{1,3},[0-9]{1,3}(\n[a-z]{3,8}=[0-9]{1,3},[0-9]{1,3},[0-9]{1,3}){4}"),
    ),
    (
        "<b>name</b><i>Lily</i>\n<b>age</b><i>five</i>\n<b>pet</b>",
        Grammar("regex", r"<i>[a-z]{2,9}</i>(\n<b>(name|age|pet|city|color)</b><i>[A-Za-z]{2,9}</i>){5}"),
    ),
    (
        "1. The cat is small. (true)\n2. The sun is cold. (false)\n3. A dog can",
        Grammar(
            "regex",
            r" [a-z]{2,8}\. \((true|false)\)(\n[4-9]\. [A-Z][a-z]{0,6}( [a-z]{2,8}){2,4}\. \((true|false)\)){3}",
        ),
    ),
)

_COPY = (
    "- red\n- green\n- blue\n- white\n- red\n- green\n- blue\n- white\n- red\n- green\n- blue\n- white\n- red\n-",
    "    print('start')\n    load()\n    check()\n    save()\n    print('start')\n    load()\n    check()\n    save()\n"
    "    print('start')\n    load()\n    check()\n    save()\n    print('start')\n    load()",
    "The sun is hot. The snow is cold. The sea is deep.\nThe sun is hot. The snow is cold. The sea is deep.\n"
    "The sun is hot. The snow is cold. The sea is deep.\nThe sun is hot. The snow",
    "name: Anna; town: Bath; pet: cat\nname: Anna; town: Bath; pet: cat\nname: Anna; town: Bath; pet: cat\nname:",
    "Ann has a hat. Ben has a bat. Sam has a cat.\nAnn has a hat. Ben has a bat. Sam has a cat.\n"
    "Ann has a hat. Ben has a bat. Sam has a cat.\nAnn has a hat. Ben",
)

_PROSE = (
    "When the rain stopped, the old man closed his book, took his coat from the chair, and walked to the door, where",
    "There are few things more difficult than to judge a man whom one has loved and",
    "Water is made of two gases. When it is cold enough, it turns into ice, and when it is heated, it",
    "The letter was short. It said that the house had been sold, that the furniture would go to my cousin, and that",
    "Q: What is the best time of the year to visit the mountains?\nA: It depends on what you like.",
)

MORE_PROMPTS: dict[str, tuple[str | tuple[str, Grammar], ...]] = {
    "story": _STORY,
    "code": _CODE,
    "structured": _STRUCTURED,
    "boilerplate": _BOILERPLATE,
    "constrained": _CONSTRAINED,
    "copy": _COPY,
    "prose": _PROSE,
    "random": tuple(random_words(seed) for seed in range(6, 11)),
}

"""Small numbers as words, for sentences."""

CARDINALS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
CARDINALS += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]


def in_words(number: int) -> str:
    """A small number as a word; figures for a larger one."""
    return CARDINALS[number] if number < len(CARDINALS) else str(number)


def _in_figures(number: int) -> str:
    """17th, 21st, 22nd: numbers above 13."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
ORDINALS += ["ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"]
ORDINALS += [_in_figures(number) for number in range(17, 65)]  # a round of another system may draft 64 tokens

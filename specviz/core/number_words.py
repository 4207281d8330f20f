"""Small numbers as words, for sentences."""

CARDINALS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
CARDINALS += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
ORDINALS += ["ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"]


def in_words(number: int) -> str:
    """A small number as a word; figures for a larger one."""
    return CARDINALS[number] if number < len(CARDINALS) else str(number)

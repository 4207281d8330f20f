"""The game that the visitor's browser tab holds: what is put there, and what is done with it after a reload."""

from specviz.core.errors import InputError
from specviz.game.saved import SavedGame, dump_game, load_game
from specviz.ui.play.state import Playing
from specviz.ui.session import session
from specviz.ui.shared.persistent_widgets import set_widgets


def held_text(state: Playing) -> str | None:
    """The game to hold: this one, or the one before it while this one has no turn. See `kept.keep`."""
    game = state if state.all_turns else state.before
    if game is None:
        return "" if state.begun else None
    return dump_game(SavedGame(game.plan.link, game.place, game.games, game.typed, game.name, game.second))


def bring_back(text: str) -> None:
    """Go on with the game of before the reload. Where the address names another game, it is the one to go back to."""
    state = session().play
    if state.begun or state.all_turns:
        return
    try:
        saved = load_game(text)
    except InputError as error:
        state.problems, state.begun = [str(error)], True
        return
    game = _playing(saved)
    if state.linked and game.plan != state.plan:
        state.before = game
    else:
        session().play = game
        set_widgets({"play_guess": game.typed, "play_second": game.second, "play_two": game.two})


def _playing(saved: SavedGame) -> Playing:
    turns = saved.games[saved.place] if saved.place < len(saved.games) else []
    return Playing(
        saved.plan,
        saved.place,
        saved.games,
        here=turns[-1] if turns else None,
        typed=saved.typed,
        second=saved.second,
        name=saved.name,
        link_read=True,
    )

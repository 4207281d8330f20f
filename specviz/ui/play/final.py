"""The end of a game: the verdict, the score text by text, the table for a class, and playing again."""

from dataclasses import replace

import streamlit as st

from specviz.core.metrics import Counts
from specviz.data.lessons.story import percent
from specviz.game.game import PLAYERS, YOU, score
from specviz.game.messages import verdict
from specviz.game.table import MAX_NAME, game_csv
from specviz.ui.play.controls import class_link
from specviz.ui.play.state import Playing
from specviz.ui.play.turns import new_game
from specviz.ui.shared.escaping import plain


def show_final(state: Playing) -> None:
    """Everything about a finished game."""
    st.markdown(f"## {verdict(state.all_turns)}")
    st.table(_rows(state), hide_index=True)
    st.caption(
        "All three drafted at the same places, with as many tokens (prompt lookup with as many at most), and the same "
        "target on this machine checked them. Skipped turns do not count."
    )
    with st.container(key="play_again_ways", horizontal=True):
        plan = state.plan
        st.button("Play again", key="play_again", type="primary", on_click=new_game, args=(plan,))
        st.button("Other texts", key="play_other", on_click=new_game, args=(replace(plan, seed=plan.seed + 1),))
    st.markdown("**For a class**")
    with st.container(key="play_class", horizontal=True, vertical_alignment="bottom"):
        state.name = st.text_input(
            "Your name in the table (optional)",
            value=state.name,
            max_chars=MAX_NAME,
            key="play_name",
            help="It is only in the file that you download.",
        )
        st.download_button(
            "Download my rounds (CSV)",
            lambda: game_csv(plan, state.games, state.name),
            file_name=f"be-the-draft-{plan.set}-{plan.seed}.csv",
            mime="text/csv",
            disabled=not any(turn.scored for turn in state.all_turns),
            on_click="ignore",
        )
    if state.name.strip():
        st.caption(f"In the file you are “{plain(state.name)}”.")
    st.caption("The link to these texts:")
    st.code(class_link(plan), language=None, wrap_lines=True)


def _rows(state: Playing) -> list[dict[str, str]]:
    rows = []
    for number, turns in enumerate(state.games, start=1):
        if any(turn.scored for turn in turns):
            rows += [_row(f"text {number}", player, score(turns)[player]) for player in PLAYERS]
    return rows + [_row("**all**", player, score(state.all_turns)[player]) for player in PLAYERS]


def _row(of: str, player: str, counts: Counts) -> dict[str, str]:
    rate, calls = counts.acceptance_rate, counts.tokens_per_target_call
    return {
        "text": of,
        "draft": f"**{player}**" if player == YOU else player,
        "drafted": str(counts.drafted),
        "accepted": str(counts.accepted),
        "acceptance rate": "–" if rate is None else percent(rate),
        "target calls": str(counts.rounds),
        "tokens per target call": "–" if calls is None else f"{calls:.2f}",
    }

"""The end of a game: the verdict, the score text by text, the table for a class, and playing again."""

from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from specviz.core.metrics import Counts
from specviz.data.permalink import MAX_SEED
from specviz.data.texts import page_texts
from specviz.data.workloads import find_workload
from specviz.game.game import MODES, PLAYERS, PROMPTS, ROUNDS, SETS, YOU, Plan, score
from specviz.game.messages import verdict
from specviz.game.saved import MAX_NAME, game_csv
from specviz.ui.play.play_state import Playing
from specviz.ui.play.turns import new_game
from specviz.ui.session import Session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import Options, download, per_call, rate_of
from specviz.ui.shared.persistent_widgets import set_widgets

SAYS = page_texts("play")

CLASS_PAGE = "pages/class.py"
MODE_LABELS = {"type": "I type", "pick": "I pick (easier)"}


def choose_game(visit: Session) -> None:
    plan = visit.play.plan
    set_widgets({"play_mode": plan.mode, "play_set": plan.set, "play_seed": plan.seed})
    changed: Options = {"on_change": partial(_changed, visit)}
    always: Options = {"label_visibility": "collapsed", "required": True}
    labels = MODE_LABELS.__getitem__
    st.segmented_control("How to play", MODES, format_func=labels, key="play_mode", **always, **changed)
    with st.popover("Game and class link", icon=":material/school:"):
        st.selectbox("Kind of text", SETS, format_func=set_title, key="play_set", **changed)
        st.number_input("Seed: which texts, in which order", 0, MAX_SEED, step=1, key="play_seed", **changed)
        st.markdown(SAYS["class_link"])
        st.code(class_link(plan), language=None, wrap_lines=True)
        if st.button("Open or join a class with a board", key="play_class_board", icon=":material/groups:"):
            st.switch_page(CLASS_PAGE)
        st.caption(f"A game is {PROMPTS} texts of {ROUNDS} rounds. Choosing another one starts a new game.")


def set_title(name: str) -> str:
    found = find_workload(name)
    return found.title if found else name


def _changed(visit: Session) -> None:
    chosen = st.session_state
    plan = Plan(chosen.play_seed, chosen.play_set, chosen.play_mode)
    if plan != visit.play.plan:
        new_game(visit, plan)


def class_link(plan: Plan) -> str:
    address: Any = st.context.url or "/play"
    return f"{str(address).partition('?')[0]}?{urlencode(plan.link)}"


def show_final(visit: Session) -> None:
    state = visit.play
    st.markdown(f"## {verdict(state.all_turns)}")
    st.table(_rows(state), hide_index=True)
    st.caption(SAYS["final"])
    with st.container(key="play_again_ways", horizontal=True):
        plan = state.plan
        st.button("Play again", key="play_again", type="primary", on_click=new_game, args=(visit, plan))
        st.button("Other texts", key="play_other", on_click=new_game, args=(visit, replace(plan, seed=plan.seed + 1)))
    st.markdown("**For a class**")
    with st.container(key="play_class", horizontal=True, vertical_alignment="bottom"):
        more: Options = {"max_chars": MAX_NAME, "key": "play_name", "help": "It is only in the file that you download."}
        state.name = st.text_input("Your name in the table (optional)", value=state.name, **more)
        file, none = f"be-the-draft-{plan.set}-{plan.seed}.csv", not any(turn.scored for turn in state.all_turns)
        download("Download my rounds (CSV)", lambda: game_csv(plan, state.games, state.name), file, disabled=none)
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
    return {
        "text": of,
        "draft": f"**{player}**" if player == YOU else player,
        "drafted": str(counts.drafted),
        "accepted": str(counts.accepted),
        "acceptance rate": rate_of(counts),
        "target calls": str(counts.rounds),
        "tokens per target call": per_call(counts),
    }

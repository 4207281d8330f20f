"""The page's address: what it asks for, and what the page writes into it."""

from collections.abc import Mapping, Sequence

import streamlit as st

from specviz.models.allowed import may_be_typed
from specviz.models.draft_menu import linked_names
from specviz.ui.session import session


def address() -> dict[str, list[str]]:
    """The address's parameters, each with all its values; on the page of a lesson's moment, those of the moment."""
    walk = session().walk
    if walk and walk.here:
        return walk.address
    return {name: st.query_params.get_all(name) for name in st.query_params}


def write_address(link: Mapping[str, str | Sequence[str]]) -> None:
    """Put a link into the address, unless it is there already."""
    wanted = {name: [value] if isinstance(value, str) else list(value) for name, value in link.items()}
    walk = session().walk
    if walk and walk.here:
        walk.address = wanted  # the browser's address stays the lesson's
    elif address() != wanted:
        st.query_params.from_dict(wanted)


def models_in(link: Mapping[str, Sequence[str]]) -> list[str]:
    """The names of models and heads that a link may hold: the menus', or what it says where the operator allows any."""
    asked = [*link.get("target", []), *link.get("draft", [])] if may_be_typed() else []
    return [*linked_names(), *asked]

"""Findings on pages: the headline of a page, and a list with the paper's statements."""

import streamlit as st

from bertviz_core.analyses.findings import NOT_SHOWN, SHOWN, Finding
from pages.shared.messages import plain

UNKNOWN = ":gray[:material/pending:]"
ICONS = {SHOWN: ":green[:material/check_circle:]", NOT_SHOWN: ":red[:material/cancel:]"}


def headline(finding: Finding) -> None:
    """The sentence of a finding with the icon of its state; its rule and the paper's statement on hover."""
    st.markdown(f"{icon(finding)} **{plain(finding.sentence)}**", help=_explained(finding))


def with_statement(finding: Finding) -> None:
    """The sentence of a finding, and under it what the paper says; the rule on pointing."""
    beside = f"The paper, section {finding.section}: {finding.statement}" if finding.statement else "Beyond the paper."
    st.markdown(f"{icon(finding)} {plain(finding.sentence)}  \n:gray[{plain(beside)}]", help=_explained(finding))


def plainly(finding: Finding) -> None:
    """The sentence of a finding, with its rule on pointing."""
    st.markdown(f"{icon(finding)} {plain(finding.sentence)}", help=_explained(finding))


def icon(finding: Finding) -> str:
    """Icon of the finding's state."""
    return ICONS.get(finding.state, UNKNOWN)


def _explained(finding: Finding) -> str:
    beside = f"\n\nThe paper: {plain(finding.statement)}" if finding.statement else ""
    return f"**{finding.state.capitalize()}.** Rule: {plain(finding.rule)}{beside}"

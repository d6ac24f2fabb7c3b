"""Sentences to begin with, each for something that heads are known to follow (CC0, written for this project)."""

from __future__ import annotations

# name shown and used in permalinks -> (segment A, segment B)
SENTENCES: dict[str, tuple[str, str]] = {
    "Coreference": ("Anna lost her keys in the park, so she asked her brother whether he had seen them.", ""),
    "Direct objects": ("The gardener planted tulips, watered the young trees and closed the gate.", ""),
    "Possessives": ("The captain's daughter kept her father's letters in the ship's library.", ""),
    "Prepositions": ("The key to the old door lay on a shelf in the kitchen of the house.", ""),
    "Passives": ("The bridge was built in a year and has been repaired by the town since.", ""),
    "Determiners and nouns": ("The stone city wall and the three market towers survived every long winter.", ""),
    "Two segments": ("The farmer opened the gate of the field.", "The sheep ran out and he followed them."),
    "Punctuation": ("It rained, it snowed, and then, at last, the sun came out.", ""),
    "Arabic (right to left)": ("قرأت المعلمة الكتاب ثم أعادته إلى المكتبة.", ""),
    "Chinese": ("小美愛花。王先生愛書。", ""),
}

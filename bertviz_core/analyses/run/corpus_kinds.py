"""The reader of each kind of corpus: what makes the inputs of a pass of it."""

from bertviz_core.analyses.base.presentation import CorpusKind
from bertviz_core.inputs.annotated_words import Sentences, Windows
from bertviz_core.inputs.encoded_corpus import EncodedCorpus
from bertviz_core.inputs.encoded_pairs import Pairs
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.inputs.segments import RandomSequences, Segments, VocabularySample

EXAMPLES: dict[CorpusKind, type[EncodedCorpus[Encoded]]] = {
    "text": Segments,
    "treebank": Sentences,
    "coreference": Windows,
    "pairs": Pairs,
    "random": RandomSequences,
    "vocabulary": VocabularySample,
}

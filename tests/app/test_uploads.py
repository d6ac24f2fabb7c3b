"""Uploads in apps of their own: who sees them, what a link restores, and what a public server forgets."""

import sys
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.corpora import upload_check
from bertviz_core.engine.uploads import Upload
from bertviz_core.settings import Access
from pages.shared import services, streamlit_internals, uploads
from pages.shared.frame import PANEL
from tests.support.driving import open_app, open_uploads, shown, switch, unescaped, uploader, wait_for_job, words

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_store")]
TEXT = b"The cat sat on the mat.\nIt was warm, and the cat slept.\n"
BOTH = b"""# newdoc id = a
# global.Entity = eid-etype-head-other
# sent_id = 1
1\tShe\t_\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(e1-person-1-)
2\tsaw\t_\tVERB\t_\t_\t0\troot\t_\t_
3\therself\t_\tPRON\t_\t_\t2\tobj\t_\tEntity=(e1-person-1-)
4\ttoday\t_\tNOUN\t_\t_\t2\tobl\t_\t_
5\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_
"""
BANK = b"The 2-det\ncat 3-nsubj\nsat 0-root\n. 3-punct\n"


def upload(
    page: str = "surface_patterns", data: bytes = TEXT, name: str = "mine.txt", refused: bool = False
) -> AppTest:
    app = open_app(page)
    uploader(app).set_value((name, data, "text/plain")).run()
    assert bool(app.error) == refused and not app.exception
    return app


def stored() -> list[Upload]:
    return [upload for kind in uploads.KINDS for upload in services.uploads().latest(kind)]


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch, own_store: None) -> None:
    monkeypatch.setenv("BERTVIZ_PUBLIC", "1")


def link(app: AppTest, name: str = "corpus") -> str:
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    return app


def test_pages_of_several_analyses_read_the_corpora_that_their_line_and_address_name() -> None:
    owner = upload("dependency_heads", BANK, "mine.conllu")
    for page in ("overview", "clustering", "tour"):
        switch(owner, page)
        others = "coreference" if page == "clustering" else "coreference, pairs"
        assert shown(owner) == f"demo on encyclopedia, mine.conllu, {others}" and not owner.exception
        guest = open_app(page, **{name: link(owner, name) for name in owner.query_params})
        assert words(guest) == words(open_uploads(owner))
    assert shown(open_app("overview")) == "demo on encyclopedia, treebank, coreference, pairs"  # not swapped in unasked


def test_minimal_pairs_are_recognized_and_read_by_their_page() -> None:
    app = upload("minimal_pairs", b"good\tbad\tphenomenon\nThe cats sleep.\tThe cat sleep.\tverbs\n", "mine.tsv")
    assert shown(app) == "demo on mine.tsv, treebank, coreference" and not app.error and not app.exception
    other = upload("entropy", b"good,bad\nThe cats sleep.,The cat sleep.\n", "pairs.csv")
    assert "is a corpus with minimal pairs" in words(other) and not other.exception


ROW = "{}\t{}\tbe\tAUX\t_\tNumber={}|VerbForm=Fin\t{}\t{}\t_\t_"
THEY_ARE = f"1\tthey\tthey\tPRON\t_\tNumber=Plur\t2\tnsubj\t_\t_\n{ROW.format(2, 'are', 'Plur', 0, 'root')}\n\n"


def test_a_treebank_gives_minimal_pairs_or_says_why_not() -> None:
    app = upload("minimal_pairs", f"{THEY_ARE}{ROW.format(1, 'is', 'Sing', 0, 'root')}\n".encode(), "bank.conllu")
    assert shown(app) == "demo on bank.conllu, coreference" and not app.error
    other = upload("minimal_pairs", THEY_ARE.encode(), "plural.conllu")
    assert shown(other).startswith("demo on pairs, ")
    assert "is a treebank. No subject and verb of the treebank give a pair." in unescaped(other.info[0].value)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("upload-" + "A" * 43, "is not on this server"),
        ("upload-" + "0" * 64, "cut off or misspelled"),  # a digest is no link
        ("nonsense", "this page has no corpus “nonsense”"),
    ],
)
def test_a_link_that_cannot_be_restored_says_why_and_shows_no_other_corpus(address: str, reason: str) -> None:
    app = open_app("surface_patterns", corpus=address)
    message = unescaped(app.error[0].value)
    assert "The link cannot be restored" in message and reason in message
    assert app.selectbox(key="corpus").value is None and not app.metric
    app.run()
    assert "cannot be restored" in unescaped(app.error[0].value)  # it stays until the reader chooses
    app.selectbox(key="corpus").set_value("encyclopedia").run()
    assert not app.error and len(app.metric) == 3


def test_a_link_to_another_kind_of_corpus_says_so_and_other_pages_go_on() -> None:
    vectors = services.uploads().keep(b"the 1 2\n", "v.txt", "vectors")
    app = open_app("surface_patterns", corpus=f"upload-{vectors.token}")
    assert "it opens vectors; this page reads a text" in unescaped(app.error[0].value)
    switch(app, "dependency_heads")
    assert not app.error and app.selectbox(key="treebank").value == "treebank"


def test_a_treebank_on_a_text_page_is_recognized_and_its_sentences_can_be_used() -> None:
    app = upload(data=BANK, name="bank.txt")
    assert "“bank.txt” is a treebank." in unescaped(app.info[0].value)
    assert shown(app) == "demo on encyclopedia" and [u.kind for u in stored()] == ["treebank"]
    press(app, "Use its sentences as text")
    open_uploads(app)
    assert "demo on bank.txt" in words(app) and "its sentences are read as text" in words(app) and not app.info
    colleague = open_app("surface_patterns", corpus=link(app))
    assert "demo on bank.txt" in words(colleague) and not colleague.error
    switch(app, "dependency_heads")
    assert "demo on bank.txt" in words(app)
    press(app, "Delete now")
    switch(app, "surface_patterns")
    assert shown(app) == "demo on encyclopedia" and not stored()


def test_trees_with_chains_are_chosen_as_both_kinds_and_what_was_read_stands_above_the_button() -> None:
    app = upload("dependency_heads", BOTH, "both.conllu")
    assert "“both.conllu” is also a corpus with coreference." in unescaped(app.info[0].value)
    assert "Read as CoNLL-U, relations of Universal Dependencies v2: 1 sentence, 5 words." in words(app)
    switch(app, "coreference_heads")
    assert "demo on both.conllu" in words(app) and not app.info
    assert "Read as CorefUD: 1 document, 1 sentence, 5 words, 2 mentions in 1 chain." in words(app)


def test_chains_without_trees_are_read_as_coreference_on_the_page_of_treebanks_too() -> None:
    app = upload("dependency_heads", BOTH.replace(b"\t2\tobj", b"\t_\t_"), "chains.conllu")
    assert "“chains.conllu” is a corpus with coreference." in unescaped(app.info[0].value)


def test_a_treebank_of_another_language_is_warned_of_before_it_is_analyzed() -> None:
    app = upload("dependency_heads", BANK.replace(b"cat", b"Streichholzschachtel").replace(b"sat", b"lagerte"))
    for _ in range(200):
        if app.run().warning:
            break
        time.sleep(0.1)
    assert "splits 50% of the words of mine.txt into pieces" in unescaped(app.warning[0].value)
    assert "Read as word head-label: 1 sentence, 4 words." in words(app)


def test_encodings_and_several_files() -> None:
    files = (("a.txt", "Grüße aus München.\n".encode("cp1252")), ("b.txt", "Es war warm.\n".encode("utf-16")))
    app = open_app("surface_patterns")
    uploader(app).set_value([(name, data, "text/plain") for name, data in files]).run()
    assert not app.error, app.error[0].value
    (joined,) = stored()
    assert joined.name == "a.txt and 1 more"
    text = "".join(uploads.source(joined).text())
    assert [line for line in text.splitlines() if line] == ["Grüße aus München.", "Es war warm."]


def test_prose_on_the_page_of_a_treebank_is_kept_as_text_and_its_page_offered() -> None:
    app = upload("dependency_heads", b"The cat sat on the mat.\nIt slept until the evening.\n")
    assert "mine.txt” is a text" in unescaped(app.info[0].value)
    assert [each.kind for each in stored()] == ["text"]


def test_files_of_different_kinds_are_refused_together() -> None:
    app = open_app("surface_patterns")
    uploader(app).set_value([("a.txt", TEXT, "text/plain"), ("b", BANK, "text/plain")]).run()
    assert "different kinds (a.txt: text, b: treebank)" in unescaped(app.error[0].value)


def test_an_upload_is_not_joined_to_what_was_uploaded_before() -> None:
    app = upload(data=b"%PDF-1.7\n%\xe2\xe3", name="paper.txt", refused=True)
    assert "This is a PDF, not text." in unescaped(app.error[0].value) and stored() == []
    assert app.session_state[PANEL] is False  # the error is below it
    assert not uploader(app).value
    uploader(app).set_value(("mine.txt", TEXT, "text/plain")).run()
    assert not app.error and not uploader(app).value
    assert [each.name for each in stored()] == ["mine.txt"]


def test_the_same_bytes_under_another_name_leave_the_first_name() -> None:
    app = upload(name="first.txt")
    first = link(app)
    uploader(app).set_value(("second.txt", TEXT, "text/plain")).run()
    assert "demo on second.txt" in words(app)
    open_uploads(app).selectbox(key="corpus").set_value(first).run()
    assert "demo on first.txt" in words(app) and "demo on second.txt" not in words(app)
    assert sorted(u.name for u in stored()) == ["first.txt", "second.txt"]


def test_unknown_words_are_warned_of_above_the_result() -> None:
    app = upload(data="花を見る。\n本を読む。\n".encode(), name="ja.txt")
    press(app, next(label for label in labels(app) if label.startswith("Analyze")))
    wait_for_job(app)
    assert "are not in this model's vocabulary" in unescaped(app.warning[0].value)
    assert not open_app("surface_patterns").warning


def test_a_guest_whose_upload_is_deleted_meanwhile_is_not_shown_another() -> None:
    owner = upload()
    guest = open_app("surface_patterns", corpus=link(owner))
    press(open_uploads(owner), "Delete now")
    guest.run()
    assert "not on this server" in unescaped(guest.error[0].value)
    assert guest.selectbox(key="corpus").value is None and "mine.txt" not in guest.selectbox(key="corpus").options
    guest.selectbox(key="corpus").set_value("encyclopedia").run()
    assert not guest.error and len(guest.metric) == 3


def test_a_file_of_the_probes_is_stored_once_checked_and_deleted() -> None:
    app = open_app("probes")
    app.file_uploader(key="vectors").set_value(("bad.txt", b"the 1 2\ncat 2\n", "text/plain")).run()
    assert "The line has 1 numbers" in unescaped(app.error[0].value) and stored() == []
    app.file_uploader(key="vectors").set_value(("v.txt", b"the 1 2\ncat 2 3\n", "text/plain")).run()
    first = stored()
    assert [upload.name for upload in first] == ["v.txt"] and not app.error
    app.run()
    app.number_input(key="rank").set_value(3).run()
    assert stored() == first
    assert "“v.txt”" in unescaped("\n".join(caption.value for caption in app.caption))
    guest = open_app("probes", vectors=link(app, "vectors"))
    press(guest, "Stop using")
    assert stored() == first and "vectors" not in guest.query_params
    other = open_app("probes", vectors=link(app, "vectors"))
    press(app, "Delete now")
    assert stored() == [] and "vectors" not in app.query_params and not app.error
    assert "not on this server" in unescaped(other.run().error[0].value) and not other.run().error


def test_a_check_that_is_cancelled_leaves_neither_a_file_nor_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_check, "COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))
    monkeypatch.setattr(uploads, "CHECK_WAIT_S", 0.0)
    app = upload()
    assert "Checking “mine.txt”" in words(app)
    press(app, "Cancel")
    assert "Checking" not in words(app) and "Cancel" not in labels(app) and not app.error and stored() == []


def test_on_ones_own_machine_uploads_and_models_are_there_again(tiny_folder: Path) -> None:
    address = link(upload())
    open_app("overview", model=str(tiny_folder))
    again = open_app("surface_patterns")
    assert tiny_folder.name in again.selectbox(key="model").options
    assert "mine.txt" in again.selectbox(key="corpus").options
    again.selectbox(key="corpus").set_value(address).run()
    assert "demo on mine.txt" in words(again)
    press(again, "Delete now")
    assert again.selectbox(key="corpus").value == "encyclopedia" and not again.error and stored() == []


def test_a_strangers_upload_shows_nowhere_on_anothers_pages_and_in_no_address(public: None) -> None:
    owner = upload(name="secret-name.txt")
    assert "demo on secret-name.txt" in words(owner) and "corpus" not in owner.query_params
    bank = upload("dependency_heads", BANK, "secret-bank.txt")
    switch(bank, "probes")
    assert shown(bank) == "demo on secret-bank.txt" and "upload-" not in str(dict(bank.query_params))
    tokens = [each.token for each in stored()]
    for page in ("overview", "surface_patterns", "dependency_heads", "clustering", "probes"):
        stranger = open_app(page)
        texts = words(stranger) + str([frame.value for frame in stranger.dataframe])
        texts += str([box.options for box in stranger.selectbox]) + str([block.value for block in stranger.json])
        assert "secret" not in texts and not any(token in texts for token in tokens)
    guest = open_app("surface_patterns", corpus=f"upload-{tokens[0]}")
    assert "not on this server" in unescaped(guest.error[0].value) and "secret" not in words(guest)


def test_a_strangers_upload_stays_on_the_way_through_the_menu(public: None, monkeypatch: pytest.MonkeyPatch) -> None:
    app = upload(name="mine.txt")
    monkeypatch.setattr(streamlit_internals, "is_history_navigation", lambda: True)  # as links of the menu arrive
    assert shown(app.run()) == "demo on mine.txt" and not app.error


def test_a_strangers_uploads_end_with_the_session(public: None) -> None:
    app = upload()
    reader = app.session_state["session"].reader
    assert [each.name for each in reader.uploads] == ["mine.txt"] == [each.name for each in stored()]
    reader.end()
    assert stored() == []
    app.run()
    assert "not on this server" in unescaped(app.error[0].value)


def test_a_strangers_session_has_so_much_room(public: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        services, "access", lambda: Access(public=True, folders=(), downloads=0, session_uploads=600_000)
    )
    app = upload()
    uploader(app).set_value(("more.txt", b"more words\n" * 10_000, "text/plain")).run()
    assert "Your uploads would take more than 1 MB" in unescaped(app.error[0].value) and len(stored()) == 1
    assert not upload(name="other.txt").error


def test_equal_bytes_under_another_name_rename_nothing_and_share_the_result(public: None) -> None:
    ann = upload(name="ann.txt")
    next(b for b in ann.button if b.label.startswith("Analyze")).click().run()
    wait_for_job(ann)
    ben = upload(name="ben.txt")
    assert len(ben.metric) == 3  # no second analysis
    ann.run()
    for app, own, other in ((ann, "ann.txt", "ben.txt"), (ben, "ben.txt", "ann.txt")):
        options = open_uploads(app).selectbox(key="corpus").options
        texts = words(app) + str([block.value for block in app.json]) + str(options)
        assert f"demo on {own}" in words(app) and other not in texts
        assert own in str([block.value for block in app.json])

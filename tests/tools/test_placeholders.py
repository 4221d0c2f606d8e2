"""No placeholder of a text reaches a report: a word such as JOB is filled in, or not written."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACEHOLDER = re.compile(r"\b(JOB|PID|FILE|INCIDENT|RANKS?|TID|NAME)\b")
# model/incident/incident_advice_name_job fills this one in, in advice.
FILLED = re.compile(r"vigil [a-z]+ JOB\b")
# The process of that number, a variable's name, headings of tables.
MEANT = re.compile(r"\(PID 1\)|\bRANK(?= and WORLD_SIZE|, WORLD_SIZE|,| once|\b(?= alike))|WORLD_SIZE,? and RANK|its own RANK|set RANK|Set RANK|a RANK of its own")


def texts_of_c(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    text = re.sub(r'"\s*\n\s*"', "", text)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)


def texts_of_rules(path):
    return re.findall(r"^\t(?:advice|cause): (.*)$", path.read_text(), flags=re.M)


def test_no_placeholder_is_left_in_a_text():
    sources = [(p, texts_of_c(p)) for folder in ("src/judge", "src/model", "src/agent/incident", "src/tell/notify") for p in sorted((ROOT / folder).rglob("*.c"))]
    sources += [(p, texts_of_rules(p)) for p in sorted((ROOT / "rules").glob("*.rules"))]
    texts = [(path, text) for path, found in sources for text in found if " " in text.strip()]
    assert len(texts) > 1000 and any(FILLED.search(t) for _, t in texts), "the texts are found"
    left = [f"{path.relative_to(ROOT)}: {text}" for path, text in texts if PLACEHOLDER.search(MEANT.sub("", FILLED.sub("", text)))]
    assert not left, "\n".join(left)


def test_causes_have_no_name_that_advice_alone_gets_filled_in():
    for path in sorted((ROOT / "rules").glob("*.rules")):
        for cause in re.findall(r"^\tcause: (.*)$", path.read_text(), flags=re.M):
            assert not FILLED.search(cause), (path, cause)

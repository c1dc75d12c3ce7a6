"""Data sets of the hub that are known by name: rows of each split, and what a row has.

Rows are exact; lengths of texts are not: they lie evenly between two numbers of words around the usual.
"""


def _words(low, high):
    return {"words": f"{low}..{high}"}


def _splits(train, validation=None, test=None, **others):
    counts = {"train": train, "validation": validation, "test": test, **others}
    return {split: count for split, count in counts.items() if count is not None}


_SENTENCE, _PAIR = {"sentence": _words(3, 30)}, {"sentence1": _words(10, 40), "sentence2": _words(10, 40)}
_GLUE = {
    "cola": (_splits(8551, 1043, 1063), {"sentence": _words(3, 15)}),
    "sst2": (_splits(67349, 872, 1821), _SENTENCE),
    "mrpc": (_splits(3668, 408, 1725), _PAIR),
    "qqp": (_splits(363846, 40430, 390965), {"question1": _words(5, 20), "question2": _words(5, 20)}),
    "stsb": (_splits(5749, 1500, 1379), {"sentence1": _words(5, 25), "sentence2": _words(5, 25)}),
    "mnli": (
        _splits(392702, validation_matched=9815, validation_mismatched=9832, test_matched=9796, test_mismatched=9847),
        {"premise": _words(5, 40), "hypothesis": _words(4, 16)},
    ),
    "qnli": (_splits(104743, 5463, 5463), {"question": _words(6, 18), "sentence": _words(12, 45)}),
    "rte": (_splits(2490, 277, 3000), {"sentence1": _words(15, 100), "sentence2": _words(4, 15)}),
    "wnli": (_splits(635, 71, 146), {"sentence1": _words(10, 40), "sentence2": _words(4, 15)}),
}
_GLUE = {
    name: (rows, item | {"label": "float" if name == "stsb" else "int", "idx": "int"})
    for name, (rows, item) in _GLUE.items()
}
_REVIEW = {"text": _words(60, 400), "label": "int"}
_HEADLINE = {"text": _words(15, 60), "label": "int"}
_ARTICLE = {"article": _words(300, 1100), "highlights": _words(30, 75), "id": "text"}
_QUESTION = {
    "id": "text", "title": "text", "context": _words(70, 180), "question": _words(6, 16),
    "answers": {"text": [_words(1, 5)], "answer_start": ["int"]},
}  # fmt: skip
_INSTRUCTION = {"instruction": _words(6, 20), "input": _words(1, 12), "output": _words(10, 90)}
_LINE = {"text": _words(1, 120)}


def _pictures(rows, classes, height, width, picture="image", label="label"):
    return rows, {picture: {"image": [height, width]}, label: "int"}


# name -> its configurations, or (rows, item) where there is one alone.
SETS = {
    "glue": _GLUE,
    "imdb": (_splits(25000, test=25000, unsupervised=50000), _REVIEW),
    "ag_news": (_splits(120000, test=7600), _HEADLINE),
    "emotion": (_splits(16000, 2000, 2000), {"text": _words(5, 35), "label": "int"}),
    "rotten_tomatoes": (_splits(8530, 1066, 1066), {"text": _words(8, 40), "label": "int"}),
    "yelp_review_full": (_splits(650000, test=50000), {"label": "int", "text": _words(40, 300)}),
    "yelp_polarity": (_splits(560000, test=38000), {"text": _words(40, 300), "label": "int"}),
    "dbpedia_14": (_splits(560000, test=70000), {"label": "int", "title": "text", "content": _words(20, 90)}),
    "squad": (_splits(87599, 10570), _QUESTION),
    "squad_v2": (_splits(130319, 11873), _QUESTION),
    "wikitext": {
        "wikitext-2-raw-v1": (_splits(36718, 3760, 4358), _LINE),
        "wikitext-2-v1": (_splits(36718, 3760, 4358), _LINE),
        "wikitext-103-raw-v1": (_splits(1801350, 3760, 4358), _LINE),
        "wikitext-103-v1": (_splits(1801350, 3760, 4358), _LINE),
    },
    "cnn_dailymail": (_splits(287113, 13368, 11490), _ARTICLE),
    "xsum": (_splits(204045, 11332, 11334), {"document": _words(150, 600), "summary": _words(15, 30), "id": "text"}),
    "samsum": (_splits(14732, 818, 819), {"id": "text", "dialogue": _words(40, 200), "summary": _words(10, 40)}),
    "billsum": (
        _splits(18949, test=3269, ca_test=1237),
        {"text": _words(800, 2000), "summary": _words(80, 260), "title": "text"},
    ),
    "gsm8k": (_splits(7473, test=1319), {"question": _words(25, 75), "answer": _words(40, 130)}),
    "alpaca": (_splits(52002), _INSTRUCTION | {"text": _words(40, 160)}),
    "databricks-dolly-15k": (
        _splits(15011),
        {
            "instruction": _words(6, 20), "context": _words(1, 120), "response": _words(10, 110), "category": "text",
        },
    ),
    "openassistant-guanaco": (_splits(9846, test=518), {"text": _words(80, 500)}),
    "cifar10": _pictures(_splits(50000, test=10000), 10, 32, 32, "img"),
    "cifar100": (_splits(50000, test=10000), {"img": {"image": [32, 32]}, "fine_label": "int", "coarse_label": "int"}),
    "mnist": (_splits(60000, test=10000), {"image": {"image": [28, 28], "mode": "L"}, "label": "int"}),
    "fashion_mnist": (_splits(60000, test=10000), {"image": {"image": [28, 28], "mode": "L"}, "label": "int"}),
    "beans": (_splits(1034, 133, 128), {"image_file_path": "text", "image": {"image": [500, 500]}, "labels": "int"}),
    "food101": _pictures(_splits(75750, 25250), 101, 512, 512),
}  # fmt: skip
# How many classes a column of labels has.
CLASSES = {
    "imdb": 2, "ag_news": 4, "emotion": 6, "rotten_tomatoes": 2, "yelp_review_full": 5, "yelp_polarity": 2,
    "dbpedia_14": 14, "cifar10": 10, "cifar100": 100, "mnist": 10, "fashion_mnist": 10, "beans": 3, "food101": 101,
    "cola": 2, "sst2": 2, "mrpc": 2, "qqp": 2, "mnli": 3, "qnli": 2, "rte": 2, "wnli": 2,
}  # fmt: skip


def found(path, name=None):
    """(rows by split, item, classes) of a data set, whoever's it is; None: it is not known"""
    key = path.rpartition("/")[2]
    said = SETS.get(key)
    if isinstance(said, dict):
        key, said = name, said.get(name)
    return None if said is None else (*said, CLASSES.get(key))

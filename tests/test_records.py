"""Records: what is wrong is said with its rows, in any engine; nothing is guessed."""

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgelab.errors import JudgelabError, ValidationError
from judgelab.records import (
    check_pairwise,
    check_ratings,
    column_names,
    examine,
    read,
)

ENGINES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "polars lazy": lambda columns: pl.LazyFrame(columns),
    "pyarrow": lambda columns: pa.table(columns),
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
EAGER = ("pandas", "polars", "pyarrow")


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def votes(**changes):
    columns = {
        "judge": ["x", "x", "y", "y"],
        "item": ["1", "2", "1", "2"],
        "verdict": ["A", "B", "TIE", "INVALID"],
    }
    return {k: v for k, v in (columns | changes).items() if v is not None}


def refusal(engine, columns, check=check_pairwise, **options):
    with pytest.raises(ValidationError) as error:
        check(ENGINES[engine](columns), **options)
    assert isinstance(error.value, JudgelabError)
    return str(error.value)


def names(frame):
    return nw.from_native(frame).collect_schema().names()


def rows_named(message, engine, rows):
    """An eager frame has row numbers; a lazy one shows values only."""
    if engine in EAGER:
        return message.startswith(rows)
    return not message.startswith("row")


def test_valid_records_come_back_in_the_same_engine(engine):
    frame = ENGINES[engine](votes(note=["p", "q", "r", "s"]))
    checked = check_pairwise(frame)
    assert type(checked) is type(frame)
    assert names(checked) == ["judge", "item", "verdict", "note"]


def test_words_are_read_in_any_case_and_written_in_capitals(engine):
    frame = ENGINES[engine](votes(verdict=["a", " B ", "Tie", "missing"]))
    checked = check_pairwise(frame)
    if engine == "polars lazy":
        checked = checked.collect()
    if engine == "duckdb":
        checked = checked.fetchdf()
    assert list(map(str, checked["verdict"])) == ["A", "B", "TIE", "MISSING"]


def test_codes_stay_codes_and_are_checked(engine):
    check_pairwise(ENGINES[engine](votes(verdict=[0, 1, 2, 4])))
    message = refusal(engine, votes(verdict=[0, 7, 2, -1]))
    assert rows_named(message, engine, "rows 2, 4: ")
    assert "unknown verdict code" in message
    assert "verdict 7" in message


def test_a_missing_column_is_named_with_the_nearest(engine):
    message = refusal(engine, votes(verdict=None, verdcit=["A", "B", "A", "B"]))
    assert "no column 'verdict'; the nearest is 'verdcit'" in message
    message = refusal(engine, votes(verdict=None, winner=["A", "B", "A", "B"]))
    assert "there are: judge, item, winner" in message


def test_renaming_is_explicit(engine):
    columns = votes(verdict=None, winner=["A", "B", "A", "B"])
    frame = ENGINES[engine](columns)
    checked = check_pairwise(frame, rename={"winner": "verdict"})
    assert names(checked) == ["judge", "item", "verdict"]
    message = refusal(engine, columns, rename={"wimmer": "verdict"})
    assert "'wimmer', which is no column" in message
    message = refusal(engine, votes(other=["A"] * 4), rename={"other": "item"})
    assert "'item', which is a column already" in message


def test_a_misspelt_optional_column_is_not_ignored(engine):
    message = refusal(engine, votes(swaped=[True, False, True, False]))
    assert "column 'swaped' is unknown and looks like 'swapped'" in message
    frame = ENGINES[engine](votes(swaped=[True, False, True, False]))
    check_pairwise(frame, rename={"swaped": "exchanged_by_hand"})


def test_unknown_words_are_named_and_can_be_translated(engine):
    columns = votes(verdict=["model_a", "model_b", "tie (inconsistent)", "A"])
    message = refusal(engine, columns)
    assert rows_named(message, engine, "rows 1, 2, 3: ")
    assert "verdict tie (inconsistent)" in message
    words = {"model_a": "A", "model_b": "B", "tie (inconsistent)": "TIE"}
    check_pairwise(ENGINES[engine](columns), words=words)
    assert "words gives 'first'" in refusal(engine, columns, words={"model_a": "first"})


def test_the_same_judge_twice_on_one_item(engine):
    message = refusal(engine, votes(item=["1", "1", "1", "2"]))
    assert rows_named(message, engine, "rows 1, 2: ")
    assert "judge x, item 1" in message
    # Told apart by trial or order, the same records are valid.
    check_pairwise(
        ENGINES[engine](votes(item=["1", "1", "1", "2"], trial=[1, 2, 1, 1]))
    )
    orders = votes(item=["1", "1", "1", "2"], swapped=[False, True, False, False])
    check_pairwise(ENGINES[engine](orders))


def test_a_verdict_without_its_other_order(engine):
    both = votes(
        judge=["x"] * 4,
        item=["1", "1", "2", "3"],
        swapped=[False, True, False, True],
    )
    message = refusal(engine, both, partner="order")
    assert rows_named(message, engine, "rows 3, 4: ")
    assert "none in the other order" in message
    assert "item 2; judge x, item 3" in message
    check_pairwise(
        ENGINES[engine](both | {"item": ["1", "1", "2", "2"]}), partner="order"
    )
    assert "no column 'swapped'" in refusal(engine, votes(), partner="order")


def test_an_item_without_a_second_judge(engine):
    message = refusal(engine, votes(item=["1", "2", "1", "3"]), partner="judge")
    assert rows_named(message, engine, "rows 2, 4: ")
    assert "no second judge on this item (item 2; item 3)" in message
    check_pairwise(ENGINES[engine](votes()), partner="judge")
    # Two orders by one judge are no two judges.
    alone = votes(
        judge=["x"] * 4, item=["1"] * 2 + ["2"] * 2, swapped=[False, True] * 2
    )
    message = refusal(engine, alone, partner="judge")
    assert "the same judge has several verdicts" in message


def test_no_records(engine):
    if engine == "duckdb":
        empty = duckdb.sql("select 'x' judge, '1' item, 'A' verdict where false")
        with pytest.raises(ValidationError, match="there are no records"):
            check_pairwise(empty)
    else:
        empty = {k: pa.array([], pa.string()) for k in votes()}
        frames = {"pandas": pa.table(empty).to_pandas(), "pyarrow": pa.table(empty)}
        frame = frames.get(
            engine, pl.DataFrame(schema=dict.fromkeys(votes(), pl.String))
        )
        with pytest.raises(ValidationError, match="there are no records"):
            check_pairwise(frame.lazy() if engine == "polars lazy" else frame)


@pytest.mark.parametrize("column", ["judge", "item", "verdict"])
def test_empty_keys_and_verdicts(engine, column):
    holed = votes()
    holed[column] = [*holed[column][:2], None, holed[column][3]]
    message = refusal(engine, holed)
    assert rows_named(message, engine, "row 3: ")
    assert f"{column!r} is empty" in message


def test_nan_is_an_empty_key(engine):
    message = refusal(engine, votes(item=[1.0, 2.0, float("nan"), 4.0]))
    assert rows_named(message, engine, "row 3: ")
    assert "'item' is empty" in message


def test_swapped_must_be_true_or_false(engine):
    check_pairwise(ENGINES[engine](votes(swapped=[0, 1, 1, 0])))
    message = refusal(engine, votes(swapped=[0, 1, 2, 0]))
    assert rows_named(message, engine, "row 3: ")
    assert "give true and false" in refusal(engine, votes(swapped=["yes"] * 4))


def test_a_model_does_not_meet_itself(engine):
    columns = votes(model_a=["p", "q", "p", "q"], model_b=["q", "q", "q", "p"])
    message = refusal(engine, columns)
    assert rows_named(message, engine, "row 2: ")
    assert message.endswith("(model_a q)")


def test_ratings_are_checked_against_their_scale(engine):
    columns = votes(verdict=None, label=[1, 2, 5, 3])
    check_ratings(ENGINES[engine](columns))
    message = refusal(engine, columns, check_ratings, scale=[1, 2, 3])
    assert rows_named(message, engine, "row 3: ")
    assert "label 5" in message
    twice = columns | {"item": ["1", "1", "2", "2"]}
    message = refusal(engine, twice, check_ratings)
    assert "the same judge has several labels on one item" in message


def test_many_rows_are_counted_and_not_listed():
    message = refusal(
        "pandas", votes(judge=None) | {"judge": ["x"] * 4, "item": [1] * 4}
    )
    assert message.startswith("rows 1, 2, 3, 4: ")
    long = {"judge": ["x"] * 9, "item": [*range(9)], "verdict": ["?"] * 9}
    assert refusal("pandas", long).startswith("rows 1, 2, 3, 4, 5 and 4 more: ")


def test_categories_are_words_too():
    frame = pd.DataFrame(votes()).astype({"verdict": "category"})
    assert [*check_pairwise(frame)["verdict"]] == ["A", "B", "TIE", "INVALID"]
    message = refusal("pandas", votes(verdict=[0.0, 1.0, 2.0, 0.5]))
    assert message.startswith("row 4: unknown verdict code")


# Files


CSV = 'judge,item,verdict\nx,007,A\nx,"two\nlines",B\n\ny,007,TIE\n'


def test_csv_keeps_names_as_they_stand(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(CSV)
    frame = read(path)
    assert [*frame["item"]] == ["007", "two\nlines", "007"]
    assert [*frame["verdict"]] == ["A", "B", "TIE"]


def test_csv_errors_name_lines_of_the_file(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(CSV + "y,2,C\n")
    with pytest.raises(ValidationError, match=r"^votes\.csv, line 7: unknown verdict"):
        read(path)


def test_na_is_a_name_and_an_empty_cell_is_missing(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict\nNA,1,A\nnull,1,B\n")
    assert [*read(path)["judge"]] == ["NA", "null"]
    path.write_text("judge,item,verdict\nx,1,A\n,1,B\n")
    with pytest.raises(ValidationError, match=r"votes\.csv, line 3: 'judge' is empty"):
        read(path)


@pytest.mark.parametrize("content", ["", "\n  \n"])
def test_an_empty_file(tmp_path, content):
    path = tmp_path / "votes.csv"
    path.write_text(content)
    with pytest.raises(ValidationError, match=r"votes\.csv is empty"):
        read(path)


def test_a_header_alone(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict\n")
    with pytest.raises(ValidationError, match=r"votes\.csv, there are no records"):
        read(path)


def test_a_wrong_encoding(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes("judge,item,verdict\nx,1,A\nRené,1,B\n".encode("latin-1"))
    with pytest.raises(ValidationError, match=r"line 3: byte 0xe9 is not utf-8"):
        read(path)
    assert [*read(path, encoding="latin-1")["judge"]] == ["x", "René"]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(b"\xef\xbb\xbfjudge,item,verdict\nx,1,A\n")
    assert [*read(path).columns] == ["judge", "item", "verdict"]


@pytest.mark.parametrize(
    "body", ["x,1,A,extra\n", "x,1,A\ny,1,B,extra\n"], ids=["first line", "later line"]
)
def test_a_line_with_too_many_fields(tmp_path, body):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict\n" + body)
    with pytest.raises(ValidationError, match=r"votes\.csv is not a table"):
        read(path)


def test_json_lines(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_text(
        '{"judge": "x", "item": 1, "winner": "A"}\n\n'
        '{"judge": "y", "item": 1, "winner": "D"}\n'
    )
    with pytest.raises(
        ValidationError, match=r"^votes\.jsonl, line 3: unknown verdict"
    ):
        read(path, rename={"winner": "verdict"})
    frame = read(path, rename={"winner": "verdict"}, words={"D": "TIE"})
    assert [*frame["verdict"]] == ["A", "TIE"]
    assert [*frame["item"]] == ["1", "1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [('{"judge": "x"', r"line 2: not JSON"), ("[1, 2]", r"line 2: not an object")],
)
def test_broken_json_lines(tmp_path, line, message):
    path = tmp_path / "votes.jsonl"
    path.write_text('{"judge": "x", "item": 1, "verdict": "A"}\n' + line + "\n")
    with pytest.raises(ValidationError, match=message):
        read(path)


def test_parquet(tmp_path):
    path = tmp_path / "votes.parquet"
    pq.write_table(pa.table(votes(verdict=["A", "B", "X", "A"])), path)
    with pytest.raises(
        ValidationError, match=r"^votes\.parquet, row 3: unknown verdict"
    ):
        read(path)


def test_ratings_from_a_file(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("judge,item,label\nx,1,2\ny,1,9\n")
    assert [*read(path, kind="ratings")["label"]] == [2, 9]
    with pytest.raises(ValidationError, match=r"line 3: the label is not on the scale"):
        read(path, kind="ratings", scale=[0, 1, 2, 3])


def test_an_ending_that_says_nothing(tmp_path):
    path = tmp_path / "votes.txt"
    path.write_text("judge,item,verdict\nx,1,A\n")
    with pytest.raises(ValidationError, match="pass format="):
        read(path)
    assert len(read(path, format="csv")) == 1


def test_an_item_listed_twice_by_one_rater_is_named(engine):
    columns = {
        "judge": ["ann", "bob", "ann"],
        "item": ["q17", "q17", "q17"],
        "label": [3, 2, 4],
    }
    message = refusal(engine, columns, check=check_ratings, scale=[1, 2, 3, 4, 5])
    assert rows_named(message, engine, "rows 1, 3:")
    assert "several labels on one item (judge ann, item q17)" in message


@pytest.mark.parametrize("column", ["judge", "item", "model_a", "cluster"])
def test_a_name_with_a_space_is_not_another_name(engine, column):
    changes = {
        "model_a": ["p", "p", "p", "p"],
        "model_b": ["q", "q", "q", "q"],
        "cluster": ["1", "2", None, "2"],
    }
    columns = votes(**changes)
    columns[column] = [f"{columns[column][0]} ", *columns[column][1:]]
    message = refusal(engine, columns)
    assert rows_named(message, engine, "row 1:")
    assert f"{column!r} has spaces around it" in message


def test_labels_and_scales_of_different_types(engine):
    columns = {"judge": ["x", "y"], "item": [1, 1], "label": ["1", "2"]}
    message = refusal(engine, columns, check=check_ratings, scale=[1, 2])
    assert "the label is not on the scale [1, 2]" in message


def test_names_of_several_types_are_refused():
    mixed = pd.DataFrame(votes(item=[1, "1", 1, 1]))
    with pytest.raises(ValidationError, match="'item' holds Python objects"):
        check_pairwise(mixed)


def test_columns_have_one_name_each(tmp_path):
    double = pd.DataFrame([["x", 1, "A", "B"]])
    double.columns = ["judge", "item", "verdict", "verdict"]
    with pytest.raises(ValidationError, match="several columns have one name"):
        check_pairwise(double)
    nested = double.set_axis(
        pd.MultiIndex.from_product([["a", "b"], ["c", "d"]]), axis=1
    )
    with pytest.raises(ValidationError, match="no name of its own"):
        check_pairwise(nested)
    votes_and_winner = pd.DataFrame(votes(winner=list("ABAB"), best=list("ABAB")))
    with pytest.raises(ValidationError, match="'choice' to several"):
        check_pairwise(votes_and_winner, rename={"winner": "choice", "best": "choice"})
    path = tmp_path / "votes.csv"
    # pandas would read the second as verdict.1 and go on.
    path.write_text("judge,item,verdict,verdict\nx,1,A,B\n")
    with pytest.raises(ValidationError, match="several columns 'verdict'"):
        read(path)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_another_separator_is_named(tmp_path, separator):
    path = tmp_path / "votes.csv"
    path.write_text(separator.join(["judge", "item", "verdict"]) + "\n")
    with pytest.raises(ValidationError, match=r"in one column.* pass separator="):
        read(path)
    path.write_text(path.read_text() + separator.join(["x", "1", "A"]) + "\n")
    assert read(path, separator=separator)["verdict"].tolist() == ["A"]
    with pytest.raises(ValidationError, match=r"between (semicolons|tabs)"):
        column_names(path)
    with pytest.raises(ValidationError, match="give one character"):
        read(path, separator=";;")
    path.rename(tmp_path / "votes.tsv")
    if separator == "\t":
        assert column_names(tmp_path / "votes.tsv") == ("judge", "item", "verdict")


def test_what_excel_saves(tmp_path):
    """Text with tabs in UTF-16; a mark before UTF-8; a line for spreadsheets alone."""
    path = tmp_path / "votes.tsv"
    text = "judge\titem\tverdict\r\nJosé\t1\tA\r\n"
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes(text.encode(encoding))
        assert read(path)["judge"].tolist() == ["José"]
        assert column_names(path) == ("judge", "item", "verdict")
    path.write_bytes("\ufeffjudge\titem\tverdict\nx\t1\tQ\n".encode("utf-16-be"))
    with pytest.raises(ValidationError, match="line 2: unknown verdict"):
        read(path)
    path = tmp_path / "votes.csv"
    path.write_text("sep=;\njudge;item;verdict\nx;1;A\n")
    for separator in (None, ";"):
        with pytest.raises(ValidationError, match="delete that line"):
            read(path, separator=separator)


def values(frame, column):
    """Give a column in the order of `votes`, which lazy engines do not keep."""
    found = nw.from_native(frame)
    found = found.collect() if isinstance(found, nw.LazyFrame) else found
    return found.sort("judge", "item")[column].to_list()


@pytest.mark.parametrize(
    ("given", "words", "meant"),
    [
        ([1, 2, 1, 2], {"1": "A", "2": "B"}, "A B A B"),
        ([1.0, 0.5, 0.0, 1.0], {"1": "A", "0.5": "TIE", "0": "B"}, "A TIE B A"),
        ([True, False, True, True], {"true": "A", "False": "B"}, "A B A A"),
        (["1", "b ", "2", "tie"], {"1": "A", "2": "B"}, "A B B TIE"),
    ],
)
def test_words_of_any_column(engine, given, words, meant):
    checked = check_pairwise(ENGINES[engine](votes(verdict=given)), words=words)
    assert values(checked, "verdict") == meant.split()


def test_with_a_mapping_a_number_is_no_code(engine):
    words = {"1": "A", "2": "B"}
    message = refusal(engine, votes(verdict=[1, 2, 0, 2]), words=words)
    assert rows_named(message, engine, "row 3: ")
    assert "unknown verdict" in message
    assert message.endswith("(verdict 0)")


@pytest.mark.parametrize(
    ("given", "orders", "meant"),
    [
        (["AB", "BA", "AB", "BA"], {"AB": False, "BA": True}, [0, 1, 0, 1]),
        (["no", "YES", "no", "YES"], {"no": False, "YES": True}, [0, 1, 0, 1]),
        ([1, 2, 2, 1], {"1": False, "2": True}, [0, 1, 1, 0]),
        (["true", "x", "False", "x"], {"x": True}, [1, 1, 0, 1]),
        (["true", "false"] * 2, {"true": False, "false": True}, [0, 1, 0, 1]),
    ],
)
def test_words_of_the_order(engine, given, orders, meant):
    frame = ENGINES[engine](votes(swapped=given))
    assert values(check_pairwise(frame, orders=orders), "swapped") == meant


def test_an_order_that_is_not_told_is_refused(engine):
    for given, orders in ((["AB", "BA"] * 2, None), ([1, 2, 1, 3], {"1": False})):
        message = refusal(engine, votes(swapped=given), orders=orders)
        assert "orders={'...': True}" in message
    with pytest.raises(ValidationError, match="orders gives 'yes'"):
        check_pairwise(ENGINES[engine](votes(swapped=["a"] * 4)), orders={"a": "yes"})


def test_an_empty_cell_is_called_empty(engine):
    message = refusal(engine, votes(verdict=["A", None, "B", "A"]))
    assert (
        "'verdict' is empty; write MISSING, or leave the record out (judge" in message
    )
    message = refusal(engine, votes(judge=["x", None, "y", "y"], item=[None] * 4))
    assert "(empty)" in message
    assert "nan" not in message
    assert "None" not in message


def test_a_column_that_the_file_lacks(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("question,winner\n1,A\n2,B\n")
    rename = {"question": "item", "winner": "verdict"}
    found = examine(path, rename=rename)
    assert "or add the column if all records have the same" in found.problems[0]
    frame = read(path, rename=rename, add={"judge": "me", "swapped": "false"})
    assert frame["judge"].tolist() == ["me", "me"]
    assert frame["swapped"].tolist() == [False, False]
    with pytest.raises(ValidationError, match="add gives 'item'"):
        read(path, rename=rename, add={"item": "1"})


def test_codes_beside_a_gap_are_codes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict\nx,1,0\nx,2,\nx,3,1\n")
    found = examine(path)
    assert len(found.problems) == 1
    assert found.records["verdict"].tolist() == [0, 1]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end(tmp_path, newline):
    path = tmp_path / "votes.csv"
    lines = ["judge,item,verdict", "x,1,A", "y,1,first", ""]
    path.write_bytes(newline.join(lines).encode())
    with pytest.raises(ValidationError, match=r"votes.csv, line 3: unknown verdict"):
        read(path)
    checked = read(path, words={"first": "B"})
    assert checked["verdict"].tolist() == ["A", "B"]


def test_an_unknown_encoding(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict\nx,1,A\n")
    with pytest.raises(ValidationError, match="utf-99"):
        read(path, encoding="utf-99")


def test_orders_may_be_written_as_decimals(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("judge,item,verdict,swapped\nx,1,A,1.0\nx,1,B,0.0\n")
    assert read(path)["swapped"].tolist() == [True, False]


def test_json_names_stay_as_they_stand_beside_gaps(tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_text(
        '{"judge": "x", "item": 1, "verdict": "A", "cluster": 7}\n'
        '{"judge": "y", "item": "1", "verdict": "B"}\n'
    )
    checked = read(path)
    assert checked["cluster"][0] == "7"
    assert checked["item"].tolist() == ["1", "1"]


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ('{"judge": "x", "item": 1, "verdict": "A", "verdict": "B"}', "several fields"),
        ('{"judge": "x", "item": [1, 2], "verdict": "A"}', "write a text or a number"),
    ],
)
def test_json_lines_that_say_two_things(tmp_path, line, match):
    path = tmp_path / "votes.jsonl"
    path.write_text('{"judge": "x", "item": 0, "verdict": "A"}\n' + line)
    with pytest.raises(ValidationError, match=f"votes.jsonl, line 2: .*{match}"):
        read(path)


def test_parquet_names_are_text_like_those_of_other_files(tmp_path):
    path = tmp_path / "votes.parquet"
    columns = {
        "judge": pa.array(["x", "y"]).dictionary_encode(),
        "item": [1, 1],
        "verdict": pa.array(["A", "tie"]).dictionary_encode(),
        "cluster": [7, None],
    }
    pq.write_table(pa.table(columns), path)
    checked = read(path)
    assert checked["item"].tolist() == ["1", "1"]
    assert checked["cluster"][0] == "7"
    assert checked["cluster"].isna().tolist() == [False, True]
    assert checked["verdict"].tolist() == ["A", "TIE"]


@pytest.mark.parametrize("content", [b"", b"PAR1 and nothing more"])
def test_a_broken_parquet_file(tmp_path, content):
    path = tmp_path / "votes.parquet"
    path.write_bytes(content)
    with pytest.raises(ValidationError, match=r"votes.parquet is not a Parquet file"):
        read(path)

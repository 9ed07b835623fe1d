from src.app import read_order


def test_read_order() -> None:
    assert read_order("7") == {"id": "7"}

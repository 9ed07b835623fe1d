from src.worker import work


def test_work() -> None:
    assert work("a") == "A"

def test_depth() -> None:
    assert True

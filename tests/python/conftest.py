"""What the tests share. On several ranks every rank runs them, in a folder that all see."""
import os

import numpy as np
import pytest

import weir

SEED = int(os.environ.get("WEIR_TEST_SEED", "20"))
SHARE = int(os.environ.get("WEIR_TEST_SHARE", "1"))


def pytest_report_header():
    return f"weir {weir.__version__}, seed {SEED}"


@pytest.fixture
def rng(request):
    return np.random.default_rng([SEED, len(request.node.name)])


@pytest.fixture
def saved(tmp_path):
    """saved(x, order) is the name of a .npy file with x."""
    def save(x, name="x.npy"):
        np.save(tmp_path / name, x)
        return str(tmp_path / name)
    return save

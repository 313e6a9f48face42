"""A plain DuckLake and a versioned one under the same random statements: nobody can tell them apart.

FDL_SEED runs one seed again, FDL_SEEDS that many of them (6), FDL_STEPS that many steps each (40). A failure prints
the seed and every statement so far.
"""

import os
import random

import pytest
from statements import Author

SEEDS = [int(os.environ["FDL_SEED"])] if "FDL_SEED" in os.environ else range(1, 1 + int(os.environ.get("FDL_SEEDS", "6")))
STEPS = int(os.environ.get("FDL_STEPS", "40"))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_statements_leave_the_same_rows_and_row_ids_with_and_without_versions(twin, seed):
    chance = random.Random(seed)
    try:
        tell(twin, chance)
    except Exception:
        print(f"\nFDL_SEED={seed} FDL_STEPS={STEPS}")
        print(";\n".join(twin.told))
        raise


def tell(twin, chance):
    author = Author(chance, twin.control, twin.folder)
    until_travel = 5
    for _ in range(STEPS):
        for statement in author.next():
            twin.attempt(statement)
        twin.compare_rows()
        until_travel -= 1
        if until_travel == 0:
            twin.told.append(go_on(twin, chance))
            until_travel = chance.randint(2, 7)
    twin.travel()


def go_on(twin, chance):
    """Publishes, or only commits, since several versions may wait."""
    if chance.random() < 0.3:
        twin.commit()
        twin.compare("after a commit")
        return "-- commit"
    twin.travel(*chance.choice([[], [], ["--keep-snapshots"]]), read=chance.random() < 0.5)
    return "-- commit, push, checkout"

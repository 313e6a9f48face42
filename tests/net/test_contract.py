"""The contract of a store (tests/store/contract.c) on real S3 servers."""

import pytest
from tools import run_program


@pytest.mark.parametrize("measures", [{}, {"MULTIPART_FROM": "100000", "PART": "5242880", "PAGE": "7"}], ids=["whole", "parts"])
def test_the_store_keeps_its_contract(s3, bucket, measures):
    done = run_program(
        "net-contract",
        environment={
            **s3.client_environment(),
            "FDL_TEST_BUCKET": bucket,
            "FDL_TEST_ATOMIC": "1" if s3.atomic else "0",
            "FDL_TEST_NESTS": "1" if s3.nests else "0",
            "FDL_TEST_CHECKS": "1" if s3.checks else "0",
            **{f"FDL_TEST_{name}": value for name, value in measures.items()},
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr

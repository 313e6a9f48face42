"""The contract of a store (tests/store/contract.c) on real S3 servers."""

import json

import pytest
from tools import run_program


@pytest.mark.parametrize("measures", [{}, {"MULTIPART_FROM": "100000", "PART": "5242880", "PAGE": "7"}], ids=["whole", "parts"])
def test_the_store_keeps_its_contract(s3, bucket, measures):
    run_contract(s3, bucket, **measures)


def test_a_store_over_plain_http_keeps_it_too_on_a_server_with_conditions(versitygw):
    """A bucket that is open to everybody is such a server."""
    boto = versitygw.boto()
    boto.create_bucket(Bucket="open")
    everybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": ["arn:aws:s3:::open", "arn:aws:s3:::open/*"]}
    boto.put_bucket_policy(Bucket="open", Policy=json.dumps({"Version": "2012-10-17", "Statement": [everybody]}))
    run_contract(versitygw, "open", URL=f"{versitygw.url}/open")


def run_contract(s3, bucket, **measures):
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

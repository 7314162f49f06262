"""Every plan of a random spec obeys the five laws, and shardc can prove the first four."""

from __future__ import annotations

from hypothesis import given

from shardc.plan.proof import prove
from tests.laws import laws
from tests.laws.specs import Case, dense_cases, quantised_cases


@given(dense_cases())
def test_dense(case: Case) -> None:
    check(case)


@given(quantised_cases())
def test_quantised(case: Case) -> None:
    check(case)


def check(case: Case) -> None:
    plan = laws.plan_of(case)
    laws.each_rank_keeps_the_rows_of_its_elements(plan)
    laws.one_rank_keeps_the_file(case)
    laws.bytes_add_up(plan)
    laws.merging_gives_the_file_back(plan)
    prove(plan)

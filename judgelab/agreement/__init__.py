"""Do judges say the same: raw agreement, the kappa family, alpha, ICC."""

from judgelab.agreement.intraclass import icc
from judgelab.agreement.many_raters import (
    fleiss_kappa,
    krippendorff_alpha,
    randolph_kappa,
)
from judgelab.agreement.many_tables import agreement_values
from judgelab.agreement.two_raters import (
    brennan_prediger,
    cohen_kappa,
    gwet_ac1,
    gwet_ac2,
    percent_agreement,
    scott_pi,
)

__all__ = [
    "agreement_values",
    "brennan_prediger",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "icc",
    "krippendorff_alpha",
    "percent_agreement",
    "randolph_kappa",
    "scott_pi",
]

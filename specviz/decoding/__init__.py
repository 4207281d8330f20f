"""Decoding: the plain loop, the speculative loop, the acceptance rule and the drafters.

It knows no screen and no file.
Begin with speculative.py, then verification.py.
"""

from specviz.decoding.autoregressive import AutoregressiveRun as AutoregressiveRun
from specviz.decoding.autoregressive import autoregressive_decode as autoregressive_decode
from specviz.decoding.drafters.choose import fit_drafter as fit_drafter
from specviz.decoding.drafters.choose import make_drafter as make_drafter
from specviz.decoding.drafters.head import HeadDrafter as HeadDrafter
from specviz.decoding.drafters.lookup_first import LookupFirstDrafter as LookupFirstDrafter
from specviz.decoding.drafters.model import ModelDrafter as ModelDrafter
from specviz.decoding.drafters.prompt_lookup import PromptLookupDrafter as PromptLookupDrafter
from specviz.decoding.drafters.protocol import Draft as Draft
from specviz.decoding.drafters.protocol import DraftContext as DraftContext
from specviz.decoding.drafters.protocol import Drafter as Drafter
from specviz.decoding.drafters.protocol import Proposer as Proposer
from specviz.decoding.drafters.translated import TranslatedDrafter as TranslatedDrafter
from specviz.decoding.grammar import make_constraint as make_constraint
from specviz.decoding.speculative import SpeculativeRun as SpeculativeRun
from specviz.decoding.speculative import alternate as alternate
from specviz.decoding.speculative import iter_speculative_decode as iter_speculative_decode
from specviz.decoding.speculative import speculative_decode as speculative_decode
from specviz.decoding.verification import AcceptanceRule as AcceptanceRule
from specviz.decoding.verification import Verification as Verification

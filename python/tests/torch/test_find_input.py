# SPDX-License-Identifier: MIT
"""Models and inputs on which find_symmetries cannot work: a clear message, and nothing changed."""

import threading
import warnings
from copy import deepcopy

import pytest
import torch
from models import MLP, VGG
from torch import nn

from symport.torch import find_symmetries


def refused(model: nn.Module, inputs: object, message: str, error: type = ValueError, **options):
    before = deepcopy(model.state_dict())
    versions = {n: p._version for n, p in model.named_parameters() if not p.is_inference()}
    with pytest.raises(error, match=message):
        find_symmetries(model, inputs, **options)
    for name, tensor in model.state_dict().items():
        if isinstance(tensor, torch.Tensor):
            assert torch.equal(tensor, before[name]), name
    after = {n: p._version for n, p in model.named_parameters() if not p.is_inference()}
    assert after == versions
    assert torch.get_default_dtype() == torch.float32


def test_parameters_made_in_inference_mode():
    with torch.inference_mode():
        model = MLP(3, 4, 2)
        with pytest.raises(ValueError, match="0.weight was made in torch.inference_mode"):
            find_symmetries(model, torch.randn(2, 3))


@pytest.mark.parametrize("mode", [torch.inference_mode, torch.no_grad])
def test_a_normal_model_called_in_inference_mode(mode):
    model, x = MLP(3, 4, 2), torch.randn(2, 3)
    with mode():
        assert find_symmetries(model, x).dimension == 4
        assert find_symmetries(model, torch.randn(2, 3)).dimension == 4


def test_no_gradients():
    model = MLP(3, 4, 2).requires_grad_(False)
    refused(model, torch.randn(2, 3), r"no parameter of the model requires a gradient")


def test_an_output_without_gradient():
    class Detached(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = MLP(3, 4, 2)

        def forward(self, x):
            return self.net(x).detach()

    refused(Detached(), torch.randn(2, 3), "does not depend on its parameters by autograd")


@pytest.mark.parametrize("inputs", [torch.randn(2, 5), (torch.randn(2, 3), 1), (), {"y": 1}])
def test_wrong_inputs(inputs):
    refused(MLP(3, 4, 2), inputs, "does not run on a double-precision copy of the example inputs")


def test_wrong_image_size():
    refused(VGG(), torch.randn(2, 3, 9, 20), "check their number, shapes and types")


def test_an_input_that_is_not_finite():
    refused(MLP(3, 4, 2), torch.full((2, 3), torch.nan), "infinity or NaN")


def test_a_loss_with_target_needs_one():
    refused(MLP(3, 4, 2), torch.randn(2, 3), "input, target", loss_fn=nn.MSELoss())


def test_an_output_without_tensors():
    class Silent(MLP):
        def forward(self, x):
            super().forward(x)
            return "done"

    refused(Silent(3, 4, 2), torch.randn(2, 3), "holds no floating-point tensors")


def test_quantised_layers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = torch.ao.quantization.quantize_dynamic(MLP(3, 4, 2), {nn.Linear}, torch.qint8)
        with pytest.raises(ValueError, match="0 is a quantised layer"):
            find_symmetries(model, torch.randn(2, 3))


def test_float16_is_searched_in_double_precision():
    model = MLP(3, 4, 2).half()
    before = deepcopy(model.state_dict())
    symmetries = find_symmetries(model, torch.randn(2, 3).half())
    assert symmetries.dimension == 4 and "powers of two only" in symmetries.groups[0].note
    assert all(torch.equal(t, before[n]) for n, t in model.state_dict().items())
    assert all(p.dtype == torch.float16 for p in model.parameters())


def test_a_model_that_cannot_be_copied():
    model = MLP(3, 4, 2)
    model.lock = threading.Lock()
    refused(model, torch.randn(2, 3), "cannot be deep-copied .*lock")


def test_a_meta_model():
    with torch.device("meta"):
        model = MLP(3, 4, 2)
    with pytest.raises(ValueError, match="meta device"):
        find_symmetries(model, torch.randn(2, 3))


def test_a_lazy_layer():
    with pytest.raises(ValueError, match="0.weight belongs to a lazy layer .* run one forward"):
        find_symmetries(nn.Sequential(nn.LazyLinear(3)), torch.randn(2, 3))


def test_something_else_than_a_module():
    with pytest.raises(TypeError, match="^model: found function, expected a torch.nn.Module"):
        find_symmetries(lambda x: x, torch.randn(2, 3))


def test_the_name_of_an_unknown_optimizer():
    with pytest.raises(ValueError, match="optimizer: 'adamx'; expected"):
        find_symmetries(MLP(3, 4, 2), torch.randn(2, 3), optimizer="adamx")


def test_a_hook_that_writes_to_the_original():
    model = MLP(3, 4, 2)

    def hook(module, inputs, output):
        with torch.no_grad():
            model[0].bias.add_(0.0)

    model.register_forward_hook(hook)
    with pytest.raises(RuntimeError, match="a hook or a global refers to the original"):
        find_symmetries(model, torch.randn(2, 3))

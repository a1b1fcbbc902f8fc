# SPDX-License-Identifier: MIT
"""Callbacks of Hugging Face's Trainer and of Lightning take the steps of a plain loop."""

from __future__ import annotations

import torch
from optional_packages import optional
from torch import nn
from torch.nn import functional as F

from symport.torch import RoundTrip

STEPS = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 3))

    def forward(self, x, labels):
        return {"loss": F.cross_entropy(self.layers(x), labels)}


def data() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(8, 6, generator=generator)
    return x, torch.randint(0, 3, (8,), generator=generator)


def plain_loop(model: nn.Module, x: torch.Tensor, labels: torch.Tensor) -> list[torch.Tensor]:
    trip, optimizer = RoundTrip(model), torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(x, labels)["loss"].backward()
        trip.step()
        optimizer.step()
    return list(model.parameters())


def assert_same(found: nn.Module) -> None:
    for a, b in zip(found.parameters(), plain_loop(Model(), *data()), strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-6)


def test_hugging_face_trainer(tmp_path):
    transformers = optional("transformers")
    from symport.torch.hugging_face import RoundTripCallback

    x, labels = data()
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    arguments = transformers.TrainingArguments(
        str(tmp_path),
        max_steps=STEPS,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        max_grad_norm=0,
        report_to=[],
        save_strategy="steps",
        save_steps=2,
        use_cpu=True,
        disable_tqdm=True,
    )
    constant = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    transformers.Trainer(
        model,
        arguments,
        train_dataset=[{"x": a, "labels": b} for a, b in zip(x, labels, strict=True)],
        optimizers=(optimizer, constant),
        callbacks=[RoundTripCallback()],
    ).train()
    assert_same(model)
    assert (tmp_path / "checkpoint-2" / "round_trip.pt").exists()
    assert not any(m._forward_hooks for m in model.modules())


def test_lightning_trainer(tmp_path):
    lightning = optional("lightning")
    from symport.torch.lightning import RoundTripCallback

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()

        def training_step(self, batch, _):
            return self.model(*batch)["loss"]

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    module = Module()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data()), batch_size=8)
    trainer = lightning.Trainer(
        max_epochs=STEPS,
        accelerator="cpu",
        callbacks=[RoundTripCallback()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    trainer.fit(module, loader)
    assert_same(module.model)
    assert not any(m._forward_hooks for m in module.modules())


def test_lora_of_peft():
    peft = optional("peft")
    model = peft.get_peft_model(Model(), peft.LoraConfig(r=2, target_modules=["0", "2"]))
    trip = RoundTrip(model)
    assert len(trip._pairs) == 2
    model(*data())["loss"].backward()
    trip.step()
    assert repr(trip).count("pair of rank 2") == 2

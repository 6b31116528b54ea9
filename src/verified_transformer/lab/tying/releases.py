"""Releases of language models, whether they tie, and the source of it."""

from __future__ import annotations

import re

# year, name, + where it ties, key of the bibliography or lib: the default of transformers' port
_RELEASES = """
2017 Transformer + vaswani2017; 2018 GPT + gpt-source; 2018 BERT + bert-pretraining-source;
2019 GPT-2 + gpt2-source; 2019 XLNet + lib; 2019 RoBERTa + lib; 2019 ALBERT + lib; 2019 BART + lib;
2019 T5 + t5-checkpoints; 2019 CTRL + lib; 2020 ELECTRA + lib; 2020 DeBERTa + lib;
2020 T5 1.1 - t5-checkpoints; 2020 mT5 - transformers-t5-config; 2020 RemBERT - chung2021;
2021 GPT-Neo + lib; 2021 GPT-J - lib; 2021 XGLM + lib; 2022 GPT-NeoX-20B - neox-config;
2022 PaLM + chowdhery2023; 2022 OPT + lib; 2022 BLOOM + lib; 2022 CodeGen - lib;
2023 LLaMA - llama-source; 2023 Pythia - pythia-config; 2023 RedPajama 3B - mlc-presets;
2023 MPT + lib; 2023 Falcon + lib; 2023 StarCoder + lib; 2023 Llama 2 - mlc-presets;
2023.5 Code Llama - mlc-presets; 2023.5 Qwen - qwen2023; 2023.5 Phi-1.5 - mlc-presets;
2023.5 Mistral 7B - mlc-presets; 2023.5 TinyLlama - mlc-presets; 2023.5 Mixtral - mlc-presets;
2023.5 Phi-2 - mlc-presets; 2024 Gemma + lib; 2024 Command R + lib; 2024 Phi-3.5 mini - mlc-presets;
2024 DeepSeek-V2 Lite - maxtext-configs; 2024 Llama 3.1 - maxtext-configs;
2024 Llama 3.2 3B + llama32-card; 2025 Phi-4 mini + mlc-presets; 2025 Qwen3 4B + maxtext-configs;
2025 Qwen3 8B - maxtext-configs; 2025 Ministral 3 3B + mlc-presets
"""
_PATTERN = re.compile(r"([\d.]+) (.+) ([+-]) (\S+)")


def _read(entry: str) -> tuple[float, str, bool, str]:
    found = _PATTERN.fullmatch(" ".join(entry.split()))
    assert found, entry
    year, name, sign, source = found.groups()
    return float(year), name, sign == "+", source


LISTED = tuple(map(_read, _RELEASES.split(";")))

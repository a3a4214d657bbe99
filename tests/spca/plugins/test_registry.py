"""The registry. Each case runs in a forked process, because what is registered stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.body import Body, Primitive
from spca.common.errors import PluginError, SettingsError
from spca.common.plugins.sources import PluginSource
from spca.errors import ProviderConfigError
from spca.llm.calls.budget import Caps, require_caps
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.servers import Server
from spca.llm.providers.base import Provider, Target
from spca.llm.providers.offline.reference import ReferenceProvider
from spca.plan.engines import AUTOMATIC, available_engines
from spca.plugins.loaded import loaded_plugins
from spca.plugins.named import load_same_plugins
from spca.plugins.registry import (
    MINIGRID,
    Registry,
    find_policy,
    find_world,
    list_registrations,
    load_plugins,
)
from spca.protocols import Executor, PluginWorld, Policy
from tests.support.processes import in_fork

BODY = Body("corridor", (Primitive("go", "Go on."),), ())


def registry(module: str = "lab") -> Registry:
    return Registry(PluginSource(module, module))


def make_world(_level: object, _seed: int, _executor: Executor, /) -> PluginWorld:
    raise NotImplementedError


def make_policy() -> Policy:
    raise NotImplementedError


@in_fork
def test_worlds_and_policies_are_found_by_their_names() -> None:
    registry().world("corridor", BODY, make_world)
    registry().policy("lazy", make_policy)
    assert find_world(MINIGRID) is None
    world = find_world("corridor")
    assert world is not None
    assert (world.body, world.make, world.origin) == (BODY, make_world, "lab")
    assert find_policy("lazy") is make_policy
    with pytest.raises(SettingsError, match=r"--world coridor: there is no such world; did you mean corridor\?"):
        find_world("coridor")
    with pytest.raises(SettingsError, match="there is no policy 'busy': registered are lazy"):
        find_policy("busy")
    lines = [(each.kind, each.name, each.origin) for each in list_registrations()]
    assert lines == [
        ("world", MINIGRID, "built in"),
        ("world", "corridor", "lab"),
        ("policy", "lazy", "lab"),
    ]


@in_fork
def test_a_name_is_registered_once() -> None:
    registry().world("corridor", BODY, make_world)
    with pytest.raises(ValueError, match="world 'corridor' was registered by lab: choose another name"):
        registry("other").world("corridor", BODY, make_world)
    registry("other").policy("corridor", make_policy)  # of another kind it is another name
    registry().provider("lab", ReferenceProvider)
    with pytest.raises(ValueError, match="lab"):
        registry("other").provider("lab", ReferenceProvider)


@in_fork
def test_a_provider_gets_the_model_and_may_refuse_it() -> None:
    asked: list[Target] = []

    def make(target: Target) -> Provider:
        asked.append(target)
        if target.model == "none":
            raise ProviderConfigError("lab/none: it is away")
        return ReferenceProvider(target)

    registry().provider("lab", make)
    catalogue = Catalogue()
    with pytest.raises(ProviderConfigError, match="lab/none: it is away"):
        catalogue.provider(ModelRef.parse("lab/none"))
    assert isinstance(catalogue.provider(ModelRef.parse("lab/planner@high")), ReferenceProvider)
    assert [target.model for target in asked] == ["none", "planner"]
    with pytest.raises(ProviderConfigError, match=r"human/\.\.\., .*lab/\.\.\."):
        catalogue.provider(ModelRef.parse("lap/planner"))

    named = Catalogue(servers={"lab": Server("http://localhost:1/v1", is_named=True)})
    with pytest.raises(ProviderConfigError, match="a plugin and a server are called lab: rename the server"):
        named.provider(ModelRef.parse("lab/planner"))


@in_fork
def test_models_of_a_provider_may_be_free() -> None:
    registry().provider("script", ReferenceProvider, is_free=True)
    registry().provider("lab", ReferenceProvider)
    free = ModelRef.parse("script/planner")
    price = Catalogue().price(free)
    assert price is not None
    assert price.is_free
    assert Catalogue().price(ModelRef.parse("lab/planner")) is None
    caps = require_caps([free], Catalogue(), Caps(), 5.0)
    assert caps.cost_usd == 5.0
    assert require_caps([free], Catalogue(), Caps(cost_usd=0), 5.0).cost_usd == 0
    table = ModelTable({"script/*": {"input": 1, "output": 2}})
    priced = Catalogue(table).price(free)
    assert priced is not None
    assert not priced.is_free
    assert [each.details for each in list_registrations() if each.name == "script"] == ["free"]


@in_fork
def test_an_engine_is_a_choice_and_never_automatic() -> None:
    before = available_engines()
    registry().engine("mine", "fast-downward-opt")
    assert available_engines() == (*before, "mine")
    assert "mine" not in AUTOMATIC


def test_a_worker_refuses_another_source(tmp_path: Path) -> None:
    path = tmp_path / "planted_lab.py"
    path.write_text("def register(registry): registry.policy('lazy', print)\n", encoding="utf-8")

    @in_fork
    def check() -> None:
        load_plugins([PluginSource.parse(str(path))])
        records = loaded_plugins()
        load_same_plugins(records)  # what is loaded stays loaded
        assert loaded_plugins() == records

        @in_fork
        def check_worker() -> None:
            with pytest.raises(PluginError, match="the main process used the plugin planted_lab with another source"):
                load_same_plugins([type(records[0])(records[0].name, records[0].given, "", "ab" * 32)])

        check_worker()

    check()

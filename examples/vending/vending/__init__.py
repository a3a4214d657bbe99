"""A vending machine as a plugin: an environment that is no grid, its body, and a scripted model that learns it."""

import gymnasium
from gymnasium.spaces import Discrete, Text

import spca

DRINKS = ("tea", "juice", "cocoa", "water", "milk")
LIMIT = 120


class Machine(gymnasium.Env):
    """Slots with drinks, of which only the selected one shows its label and its price; coins pay, the lever serves."""

    action_space = Discrete(4)
    observation_space = Text(1)

    def __init__(self, slots=4, wanted=1, render_mode=None):
        self.count = slots
        self.wanted_count = wanted
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.drinks = [str(drink) for drink in self.np_random.permutation(DRINKS)[: self.count]]
        self.prices = [int(price) for price in self.np_random.integers(3, 25, self.count)]
        self.wanted = [str(drink) for drink in self.np_random.permutation(self.drinks)[: self.wanted_count]]
        self.mission = "buy " + " and ".join(f"a {drink}" for drink in self.wanted)
        self.labels = ["unknown"] * self.count
        self.selected = self.credit = self.steps = 0
        self.bought = []
        return self._observe(), {}

    def step(self, action):
        self.steps += 1
        if action == 0:
            self.credit = min(self.credit + 1, 99)
        elif action == 1:
            self.credit = min(self.credit + 10, 99)
        elif action == 2:
            self.selected = (self.selected + 1) % self.count
        elif self.credit >= self.prices[self.selected]:
            self.credit -= self.prices[self.selected]
            self.bought.append(self.drinks[self.selected])
        has_wrong = any(drink not in self.wanted for drink in self.bought)
        is_done = set(self.bought) == set(self.wanted)
        reward = 1 - 0.9 * self.steps / LIMIT if is_done and not has_wrong else 0.0
        return self._observe(), reward, is_done or has_wrong, self.steps >= LIMIT, {}

    def _observe(self):
        self.labels[self.selected] = self.drinks[self.selected]
        return {
            "mission": self.mission,
            "labels": self.labels,
            "selected": self.selected,
            "price": self.prices[self.selected],
            "credit": self.credit,
            "bought": self.bought,
        }


gymnasium.register("MyLab/Vending-v0", Machine)


class Vending(spca.GymnasiumWorld):
    """The observation is a dict with all that the body's state lists, so that there is nothing more to write."""

    body = spca.Body(
        name="vending",
        about="A drink that the mission does not name must not be bought: that ends the episode, lost.",
        primitives=(
            spca.Primitive("insert_penny", "Insert a coin of 1."),
            spca.Primitive("insert_dime", "Insert a coin of 10."),
            spca.Primitive("next_slot", "Select the next slot; after the last one, the first."),
            spca.Primitive("pull_lever", "Buy a drink of the selected slot, if the credit pays for it."),
        ),
        state=(
            spca.StateAttribute("labels", spca.StateKind.WORDS, 'label of each slot; "unknown" until it was selected.'),
            spca.StateAttribute("selected", spca.StateKind.VALUE, "index of the selected slot."),
            spca.StateAttribute("price", spca.StateKind.VALUE, "price of the selected slot."),
            spca.StateAttribute("credit", spca.StateKind.VALUE, "what was inserted and not spent."),
            spca.StateAttribute("bought", spca.StateKind.VALUE, "drinks bought so far, a tuple of words."),
        ),
        words=("unknown", *DRINKS),
        vocabulary=spca.WordGroups(renamed=DRINKS, alike=DRINKS, alike_title="drinks"),
    )


def register(registry):
    registry.world("vending", Vending.body, Vending.make)
    registry.provider("vending-script", make_script, is_free=True)


def make_script(target):
    from vending.script import ScriptedModel  # when it is asked

    return ScriptedModel()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what jinja2 renders, in the environment of transformers, as the expected values of io.penstock.chat's tests.

    python3 tools/src/test/python/chat_templates.py        # with transformers 5.18 and jinja2 3.1.6

Writes renderings.jsonl (the templates beside it and the named ones, with conversations.json) and rules.jsonl (each rule
of the language by itself: operators, methods, filters and tests with a table of values, white space, scopes).
A line has the template, or its name, and "text" and "spans", or "error" with the kind of error; in "results" null is an
error.
"""
import copy
import datetime
import itertools
import json
import pathlib
import re
import warnings

from transformers.utils import chat_template_utils

warnings.filterwarnings("ignore")
MODULE = pathlib.Path(__file__).resolve().parents[3]
FOLDER = MODULE / "src/test/resources/io/penstock/chat"
NAMED = MODULE / "src/main/resources/io/penstock/chat"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
ADDRESS = re.compile(r" at 0x[0-9a-f]|<built-in method|<class '|<Macro ", re.IGNORECASE)


class Now(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime(2026, 11, 6, 3, 5, 9)


chat_template_utils.datetime = Now


def rendered(template, conversation):
    """What transformers makes of a conversation; None if it depends on the process."""
    try:
        compiled = chat_template_utils._cached_compile_jinja_template(template)
        text, spans = chat_template_utils._render_with_assistant_indices(
            compiled, conversation.get("messages"), conversation.get("tools"), None,
            conversation.get("add_generation_prompt", False), **{**TOKENS, **conversation.get("kwargs", {})})
    except Exception as e:
        return {"error": type(e).__name__}
    return None if ADDRESS.search(text) else {"text": text, "spans": [list(span) for span in spans]}


def write(name, lines):
    with open(FOLDER / name, "w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


def renderings():
    conversations = json.loads((FOLDER / "conversations.json").read_text(encoding="utf-8"))
    files = sorted(FOLDER.glob("*.jinja")) + sorted(NAMED.glob("*.jinja"))
    for file, (name, conversation) in itertools.product(files, conversations.items()):
        result = rendered(file.read_text(encoding="utf-8"), conversation)
        yield {"template": file.stem, "named": file.parent == NAMED, "conversation": name, **result}


STRINGS = ["", "a", "Hello", "  sp  ace ", "x\ny\n\nz\n", "Gr\u00fc\u00dfe \U0001F44B\U0001F3FD", "a,b,,c", "</think>ok<think>",
           "\t\u00a0\u3000q\u2028", "<b>&\"'", "aXbXc", "12", "-3.5", " 7 ", "1e3", "0x1F", "1_0", "\u0391\u03a3 \u03c3\u03c2", "1\u03A3 \u0130\u03A3", "\ufb01x \u01c6",
           "o'clock \\ \x00\x7f\u200b\ue000", "\u4e2d\u6587 word-word (x) [y]"]
OTHERS = [0, 1, -7, 255, 2**63 - 1, -10**20, 0.0, -0.5, 2.5, 1e16, 1e-5, 0.1, 123456.789, 1e22, 5e-324, True, False, None,
          [], [3, 1, 2], ["b", "A", "a"], [None, "x", 1.5, [True, {}]], {}, {"b": 1, "a": [2], "items": "own"},
          {"role": "user", "content": None}, [{"a": 2, "b": "x"}, {"a": 1, "b": "Y"}, {"a": 2}]]
FEW = ["", "ab", "b", 3, -2, 2.5, True, None, [1, 2], [], {"a": 1}]

OPERATORS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
METHODS = """strip() strip("ab ") lstrip() lstrip("<ax") rstrip() rstrip("\\n") split() split(",") split("X",1)
    split(none,1) rsplit(",",1) rsplit(none,1) splitlines() splitlines(true) startswith("a") endswith("c") startswith(("x","</"))
    endswith("e",1) replace("a","--") replace("","-") replace("X","",1) upper() lower() title() capitalize() find("b")
    find("o",3) find("",2) find("",5,0) count("",9,2) startswith("",99) rfind("k") index("a") count("a") count("") partition(",") rpartition("X") removeprefix("a")
    removesuffix("c") zfill(6) center(8) ljust(8,"*") rjust(7) isdigit() isspace() isalnum() isupper() islower() isascii()
    join(["x","y"]) format(1,a=2)""".split()
FILTERS = """lower upper capitalize title trim trim("a") string length count list first last reverse|list join join("-")
    join("-",attribute="a") sort sort(reverse=true) sort(case_sensitive=true) sort(attribute="a") unique|list min max sum
    sum(start=1) items|list dictsort dictsort(by="value") dictsort(reverse=true) abs round round(1) round(-1) round(1,"floor")
    round(0,"ceil") int int(5) int(0,16) float float(1) tojson tojson(indent=2) tojson(ensure_ascii=true) tojson(sort_keys=true)
    tojson(separators=(",",":")) tojson(indent=0) default("d") default("d",true) d map(attribute="a")|list
    map(attribute="a",default=9)|list map("upper")|list map("default","?")|list select|list select("string")|list
    select("odd")|list reject("none")|list selectattr("a")|list selectattr("a","equalto",2)|list selectattr("a",">",1)|list
    rejectattr("b")|list batch(2)|list batch(2,"f")|list slice(2)|list slice(2,"f")|list indent indent(2,true)
    indent("> ",blank=true) truncate(6) truncate(5,true,"~",0) center(9) replace("a","b") replace("l","",1) wordcount safe
    safe+"<" escape escape+"<" escape|upper forceescape attr("upper") attr("a")""".split()
TESTS = """defined undefined none string mapping iterable sequence number integer float boolean true false odd even lower upper
    callable escaped divisibleby(3) in([1,"a",none]) eq(1) equalto("a") ne(0) lt(2) ge("b") gt(1) le(2.5) sameas(none)""".split()
SUBSCRIPTS = """0 1 -1 7 "a" "items" "upper" true none 1: :1 ::-1 :-1 ::2 1:-1 -2: 3:0:-1 ::0 5:9 -9:2""".split()
MEMBERS = "a b items keys get update append upper zz __class__ 0".split()

SCOPES = [
    "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }},{% endfor %}{{ x }}",
    "{% for i in [1] %}{% set y = 5 %}{% endfor %}[{{ y }}]",
    "{% set n = namespace(x=1) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}{{ n }}",
    "{% if true %}{% set z = 1 %}{% endif %}{{ z }}", "{% if s %}{% set s = 'new' %}{% endif %}{{ s }}",
    "{% macro m() %}{{ v }}{% endmacro %}{{ m() }}{% set v = 1 %}{{ m() }}{% set v = 2 %}{{ m() }}",
    "{% macro m() %}{{ s }}{% set s = 1 %}{{ s }}{% endmacro %}{{ m() }}{{ s }}",
    "{% macro m(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }};{% endmacro %}{{ m(1) }}{{ m(1, c=3) }}{{ m(b=1) }}{{ m() }}",
    "{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", "{% macro m() %}[{{ caller('c') }}]{% endmacro %}{% call(x) m() %}{{ x }}{{ s }}{% endcall %}",
    "{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}", "{% macro f(n) %}{{ n }}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }}",
    "{% for x in [1, 2, 3] %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}",
    "{% for x in [3, 1, 2] if x > 1 %}{{ x }}{{ loop.index }}{{ loop.last }}{{ loop.length }}{% endfor %}", "{% for x in [] %}a{% else %}b{% endfor %}",
    "{% for x in [1, 2, 3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "{% for x in [1, 2] %}{% break %}{% else %}e{% endfor %}",
    "{% for x in [1, 2] %}{{ x }}{% break %}{% endfor %}", "{% for a, b in {'x': 1, 'y': 2}.items() %}{{ a }}{{ b }}{% endfor %}", "{% for a, b in [[1, 2, 3]] %}{% endfor %}",
    "{% for k in {'x': 1} %}{{ k }}{% endfor %}", "{% for c in 'a\U0001F600b' %}[{{ c }}]{% endfor %}", "{% for x in none %}{% endfor %}", "{% for x in missing %}a{% endfor %}.",
    "{% for x in [1, 2] %}{% for y in [3] %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}", "{% for x in 'abca' %}{{ loop.cycle(1, 2) }}{{ loop.changed(x) }}{% endfor %}",
    "{% set n = namespace(go=true) %}{% for x in [1, 2, 3] if n.go %}{{ x }}{% set n.go = false %}{% endfor %}",
    "{% set n = namespace(go=true) %}{% for x in [1, 2, 3] if n.go %}{{ x }}{{ loop.last }}{% set n.go = false %}{% endfor %}",
    "{% set x %}a{{ 1 }}b{% endset %}{{ x|upper }}", "{% set x | upper | replace('A', 'z') %}a{{ s }}{% endset %}{{ x }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set (a, (b, c)) = [1, 'xy'] %}{{ c }}{{ a }}",
    "{% with a = 1, b = s %}{{ a }}{{ b }}{% endwith %}{{ a }}", "{% filter upper %}a{{ s }}{% endfilter %}", "{% set s.x = 1 %}", "{% print 1, 'a' %}",
    "{{ undefined_name }}|{{ undefined_name.x }}", "{{ s.zz }}|{{ s.zz.y }}", "{{ none.x }}|{{ none['x'] }}|{{ none[0] }}", "{{ 1 if false }}|{{ (1 if false) is undefined }}", "{{ undefined_name + 1 }}",
    "{{ undefined_name ~ 'a' }}{{ undefined_name == missing }}{{ undefined_name|length }}{{ 1 in undefined_name }}{{ undefined_name|default('d') }}", "{{ undefined_name() }}", "{{ s() }}", "{{ raise_exception('no') }}",
    "{{ strftime_now('%Y-%m-%d %H:%M:%S %d %B %b %A %a %j %I %p %-d %y %e') }}", "{{ range(4)|list }}{{ range(1, 9, 3)|list }}{{ range(3, 0, -1)|list }}{{ range(2) }}", "{{ dict(a=1, b=[2]) }}{{ dict({'x': 1}, y=2) }}",
    "{{ '%s %r %d %5.2f|%-4s|%04d|%x %% %c' % ('a', 'b', 3, 2.345, 'c', 42, 255, 'q') }}", "{{ '%s' % 'a' }}{{ '%s' % [1] }}{{ '%(k)s' % {'k': 1} }}", "{{ '%s %s' % ('a',) }}", "{{ '%d' % 'a' }}", "{{ 'a' % 1 }}", "{{ '{} {}{{}}'.format(1, 'a') }}{{ '{1}{0}{x!r}'.format(1, 2, x='y') }}",
    "{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}{{ 1 == 1.0 == true }}", "{{ 2 ** 3 ** 2 }}{{ -2 ** 2 }}{{ 2 ** -1 }}{{ 10 ** 20 }}", "{{ -7 // 2 }}{{ -7 % 3 }}{{ 7 // -2.0 }}{{ -7.5 % 2 }}{{ 7 / 2 }}{{ 1 / 0 }}", "{{ 9223372036854775807 + 1 }}{{ -9223372036854775808 - 1 }}{{ 4611686018427387904 * 4 }}",
    "{{ 'a' 'b' \"c\" }}{{ '\\x41\\u00e9\\n\\t\\\\\\'\\q' }}", "{{ [1, 2] + [3] }}{{ (1,) + (2, 3) }}{{ 'ab' * 3 }}{{ [0] * 2 }}{{ 2 * 'x' }}", "{{ (1, 2) == [1, 2] }}{{ {'a': 1} == {'a': 1.0} }}{{ [] is sequence }}", "{{ [1, 'a', none, true, 1.0, (), (1,), {'k': 'v\\'s'}] }}",
    "{{ not true or true }}{{ 'a' and 0 or 'b' }}{{ none or [] }}", "{{ 1 if s == 'a' else 2 if s else 3 }}", "{{ -1|abs }}{{ -s|length }}", "{{ ('a' ~ 1 + 2) }}", "{{ 1_000 + 0x1f + 0b11 + 0o17 }}{{ 1.5e3 }}{{ 1e2 }}{{ .5 }}", "{{ {'a': 1}.a }}{{ {'items': 2}['items'] }}{{ {'items': 2}.items is callable }}",
    "{{ x.y.z }}", "{{ }}", "{% if %}{% endif %}", "{% for x in y %}", "{% endif %}", "{{ 'a }}", "{{ (1 }}", "{{ 1 + }}", "{% set 1 = 2 %}", "{% set true = 2 %}", "{% break %}", "{{ a b }}", "{% for loop in [1] %}{{ loop }}{% endfor %}", "{# open", "{% raw %}", "{{ [1, 2 }}", "{{ 1 is string is string }}",
    "{% generation %}a{% endgeneration %}b{% generation %}\U0001F600{% endgeneration %}", "x{% macro m() %}y{% generation %}z{% endgeneration %}{% endmacro %}{{ m() }}{{ m() }}", "{% generation %}a{% generation %}b{% endgeneration %}c{% endgeneration %}", "{% for i in [1, 2] %}-{% generation %}{% set q = i %}{{ q }}{% endgeneration %}{{ q }}{% endfor %}",
    "a{% set x %}b{% generation %}c{% endgeneration %}{% endset %}d{{ x }}", "{{ '<b>'|safe + '<i>' }}{{ '<' + '>'|safe }}{{ ('<'|safe) ~ '<' }}{{ '<'|e }}{{ ['<'|safe] }}{{ '<'|safe|tojson }}{{ '<'|safe == '<' }}",
    "{{ ['<a b'|safe|title, 'b'|safe|capitalize, 'a'|safe|trim] }}{{ 'ab'|safe|last }}{{ [('ab'|safe)[0], ('a<'|safe).replace('a', '<')] }}",
    "{{ [('<a>'|safe).strip('<'), ('a'|e).join(['<', 1]), ('<s>'|e).removeprefix('<s>'), ('a b'|safe).split(), ('ab'|safe)|last] }}",
    "{{ [undefined_name, other_name, 1, 1.0, true]|unique|list }}{{ range(9)[1:7:2] }}{{ range(5)[::-1]|list }}",
]
SPACES = [f"a{gap}{opening}{sign} {body} {end}{closing}{after}b"
          for opening, body, closing in [("{%", "set x = 1", "%}"), ("{{", "'v'", "}}"), ("{#", "c", "#}"), ("{%", "raw %}\n{{ r }} {% endraw", "%}")]
          for sign in ["", "-", "+"] for end in ["", "-", "+"] for gap in ["", "\n  ", " \n", "\n\n\t"] for after in ["", "\n", " \n\n  "]]


def rules():
    """Lines with a template and its results with values of the table by index; the first line is the table."""
    table = STRINGS + OTHERS + FEW
    every = range(len(STRINGS + OTHERS))
    few = range(len(STRINGS + OTHERS), len(table))

    def rule(template, *names, each):
        results = []
        for indices in each:
            result = rendered(template, {"messages": [], "kwargs": {n: copy.deepcopy(table[i]) for n, i in zip(names, indices)}})
            if result:
                results.append([*indices, result.get("text")])
        return {"template": template, "names": names, "results": results}

    yield table
    yield from (rule(f"{{{{ a {operator} b }}}}", "a", "b", each=itertools.product(few, few)) for operator in OPERATORS)
    yield from (rule(f"{{{{ a.{method} }}}}", "a", each=[[i] for i in range(len(STRINGS))]) for method in METHODS)
    one = ([f"{{{{ a|{name} }}}}" for name in FILTERS] + [f"{{{{ a is {name} }}}}{{{{ a is not {name} }}}}" for name in TESTS]
           + [f"{{{{ a[{key}] }}}}" for key in SUBSCRIPTS] + [f"{{{{ a.{name} }}}}" for name in MEMBERS]
           + ["{{ a }}{{ [a] }}{{ a ~ '' }}{{ not a }}{% for x in a %}{{ x }},{% endfor %}"])
    yield from (rule(template, "a", each=[[i] for i in every]) for template in one)
    for template in SCOPES + SPACES:
        yield {"template": template, **(rendered(template, {"messages": [], "kwargs": {"s": "a"}}) or {})}


if __name__ == "__main__":
    write("renderings.jsonl", renderings())
    write("rules.jsonl", rules())

#include "tests/fuzz/lang/reentrant_program.h"

#include <array>
#include <string_view>

/// In the templates $c is a container, $d another, $e an object with special methods, $i an index,
/// $f a function that changes something, $s a text, $v any value.
namespace tidemark::lang {

namespace {

constexpr auto kContainers = std::to_array<std::string_view>({
    "[E(), 1, E(), 'x', E()]",
    "[[E()], [1], (E(), 2)]",
    "[]",
    "[E()] * 20",
    "list(range(40))",
    "{E(): 1, 'a': E(), 2: [E()]}",
    "{i: E() for i in range(20)}",
    "{}",
    "{E(), 1, 'x'}",
    "set(range(12))",
    "frozenset([E(), 1])",
    "(E(), 1, (E(), 2))",
    "collections.deque([E(), 1, E(), 2])",
    "collections.deque([E(), 1, E(), 2], 3)",
    "collections.OrderedDict([('a', E()), (E(), 2)])",
    "collections.defaultdict(f, {1: E()})",
    "collections.Counter([1, 2, E(), 1])",
    "L([E(), 1, E()])",
    "D({E(): 1, 'k': 2})",
    "P(E(), 2)",
    "range(E(), 9, 2)",
    "slice(E(), None, E())",
    "(x for x in [E(), 1, E()])",
    "g()",
    "iter([E(), 1, E()])",
    "zip([E(), 1], E(), [2, E()])",
    "map(f, [E(), 1], [E()])",
    "enumerate([E(), E()])",
    "reversed([E(), 1, E()])",
    "filter(E(), [E(), 1, E()])",
    "'text'",
    "E()",
});

constexpr auto kChanges = std::to_array<std::string_view>({
    "$c.clear()",
    "$c.append(E())",
    "$c.pop()",
    "$c.popitem()",
    "$c.popleft()",
    "del $c[:]",
    "del $c[0]",
    "$c[:] = [E(), 1]",
    "$c.extend([E()] * 60)",
    "$c.insert(0, E())",
    "$c.reverse()",
    "$c.sort()",
    "$c.update({i: i for i in range(40)})",
    "$c.update([1, 2, E()])",
    "$c.add(7)",
    "$c[E()] = 3",
    "$c *= 0",
    "$c += [1] * 50",
    "c = d",
    "c = None",
    "d = c",
    "c, d = d, c",
    "next($c)",
    "list($c)",
    "gc.collect()",
    "E.__index__ = E.__len__",
    "E.__eq__ = None",
    "del E.__hash__",
    "E.__iter__ = f",
    "$c.__init__([E()])",
    "$c.remove(E())",
    "$c.setdefault(E(), 1)",
    "$c.rotate(1)",
    "raise ValueError(E())",
    "raise StopIteration",
    "raise IndexError",
    "pass",
});

constexpr auto kOperations = std::to_array<std::string_view>({
    "$c[$i]",
    "$c[$i:$i]",
    "$c[$i:$i:$i]",
    "$c[$i] = $v",
    "$c[$i:$i] = $c",
    "$c[$i:$i:$i] = $d",
    "del $c[$i]",
    "del $c[$i:$i]",
    "del $c[$i:$i:$i]",
    "$c == $d",
    "$c != $d",
    "$c < $d",
    "$c <= $d",
    "$c >= $d",
    "$e in $c",
    "$c + $d",
    "$c * $i",
    "$c - $d",
    "$c | $d",
    "$c & $d",
    "$c ^ $d",
    "$c % $d",
    "$c += $d",
    "$c |= $d",
    "$c -= $d",
    "$c *= $i",
    "hash($c)",
    "repr($c)",
    "str($c)",
    "format($c, $s)",
    "len($c)",
    "bool($c)",
    "list($c)",
    "tuple($c)",
    "set($c)",
    "dict($c)",
    "dict(zip($c, $d))",
    "sorted($c)",
    "sorted($c, key=f)",
    "sorted($c, key=f, reverse=$e)",
    "min($c)",
    "max($c, key=f)",
    "sum($c, $v)",
    "any($c)",
    "all($c)",
    "list(map(f, $c, $d))",
    "list(zip($c, $d, strict=True))",
    "list(filter(f, $c))",
    "list(enumerate($c, $i))",
    "list(reversed($c))",
    "next($c, $v)",
    "list(iter(f, $e))",
    "isinstance($e, $c)",
    "issubclass(E, $c)",
    "round($e, $i)",
    "divmod($e, $i)",
    "pow($e, $i, $i)",
    "int($e)",
    "int($s, $i)",
    "float($e)",
    "abs($e)",
    "chr($i)",
    "range($i, $i, $i)",
    "range($i, $i)[$i]",
    "range($i, $i)[$i:$i:$i]",
    "$i in range($i, $i, $i)",
    "slice($c, $i).indices($i)",
    "getattr($c, $s, $v)",
    "setattr($c, $s, $v)",
    "delattr($c, $s)",
    "hasattr($c, $s)",
    "vars($c)",
    "dir($c)",
    "copy.copy($c)",
    "copy.deepcopy($c)",
    "$c.append($e)",
    "$c.extend($d)",
    "$c.insert($i, $e)",
    "$c.pop($i)",
    "$c.pop($e, $v)",
    "$c.remove($e)",
    "$c.index($e)",
    "$c.index($e, $i, $i)",
    "$c.count($e)",
    "$c.reverse()",
    "$c.sort()",
    "$c.sort(key=f)",
    "$c.copy()",
    "$c.clear()",
    "$c.get($e, $v)",
    "$c.setdefault($e, $v)",
    "$c.update($d)",
    "$c.update(a=$e)",
    "$c.popitem()",
    "$c.popitem($e)",
    "$c.popitem(last=False)",
    "$c.move_to_end($e, $v)",
    "list($c.items())",
    "repr($c.values())",
    "$c.keys() & $d.keys()",
    "dict.fromkeys($c, $e)",
    "$c.add($e)",
    "$c.discard($e)",
    "$c.union($d)",
    "$c.intersection($d, $c)",
    "$c.difference($d)",
    "$c.symmetric_difference($d)",
    "$c.issubset($d)",
    "$c.isdisjoint($d)",
    "$c.appendleft($e)",
    "$c.popleft()",
    "$c.extendleft($d)",
    "$c.rotate($i)",
    "$c.most_common($i)",
    "$c.elements()",
    "$c._replace(a=$e)",
    "$c._asdict()",
    "P._make($c)",
    "P(*$c)",
    "f(*$c, **$d)",
    "f(*$c, *$d)",
    "{**$c, **$d}",
    "[*$c, $e, *$d]",
    "{$e: 1, $e: 2, $v: 3}",
    "{$e, $e, $v}",
    "[x for x in $c if x == $e]",
    "{x: y for x in $c for y in $d}",
    "$s.join($c)",
    "$s % $c",
    "$s.format($c, $e, a=$v)",
    "f'{$c!r:{$i}}'",
    "$s.split($s, $i)",
    "$s.startswith($c, $i, $i)",
    "$s.replace($s, $s, $i)",
    "$s.zfill($i)",
    "$s.center($i)",
    "$s[$i:$i:$i]",
    "functools.reduce(f, $c, $e)",
    "functools.partial(f, $c)(*$d)",
    "functools.lru_cache(f)($e, $e)",
    "list(itertools.chain($c, $d))",
    "list(itertools.islice($c, $i, $i))",
    "list(itertools.product($c, $d))",
    "list(itertools.zip_longest($c, $d))",
    "list(itertools.groupby($c, f))",
    "heapq.heappush($c, $e)",
    "heapq.heapify($c)",
    "bisect.insort($c, $e)",
    "operator.itemgetter($i, $e)($c)",
    "math.gcd($i, $i)",
    "math.comb($i, $i)",
    "math.prod($c)",
    "json.dumps($c)",
    "type($c)($d)",
    "type('T', ($c,), {})",
    "E.__call__($e)",
    "$e($c)",
    "$e.attribute",
    "$e < $e",
    "-$e",
    "~$e",
    "$e @ $e",
    "Exception($c).args",
    "str(KeyError($e))",
});

constexpr auto kStatements = std::to_array<std::string_view>({
    "a, b = $c",
    "a, *b = $c",
    "*a, b = $c",
    "for x in $c: @",
    "for x, y in enumerate($c): @",
    "for x, y in zip($c, $d): @",
    "for x, y in $c.items(): @",
    "while $e: @; break",
    "with $e as a: @",
    "assert $c == $d, $e",
    "raise E",
    "del c",
    "global_value = [$c]",
});

constexpr auto kMatches = std::to_array<std::string_view>({
    "[a, b, *rest]",
    "[E(), 1]",
    "{'a': x, **rest}",
    "P(a=x, b=1)",
    "P(x, y)",
    "E()",
    "str() | int()",
    "(1, [x, *_])",
});

constexpr auto kIndices = std::to_array<std::string_view>({
    "$e",
    "0",
    "-1",
    "1",
    "2",
    "None",
    "True",
    "40",
    "-9",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "2 ** 62",
    "1.5",
    "'a'",
});

constexpr auto kTexts = std::to_array<std::string_view>({
    "'a,b'",
    "''",
    "'%s %r %d'",
    "'{0} {a} {1:{0}}'",
    "'%*d'",
    "'x'",
    "'__dict__'",
    "'_fields'",
    "'{0.attribute[0]}'",
    "'9' * 30",
    "'\\u00e9\\u4e2d'",
    "'__class__'",
    "'>20'",
});

constexpr auto kValues = std::to_array<std::string_view>({
    "$e",
    "0",
    "None",
    "()",
    "[]",
    "'v'",
    "$c",
    "$d",
    "1.5",
    "float('nan')",
    "E",
    "f",
    "{}",
});

/// Special methods with their parameters, and what a well-behaved one would return.
struct Special {
  std::string_view name;
  std::string_view parameters;
  std::string_view result;
};
constexpr auto kSpecials = std::to_array<Special>({
    {"__eq__", "self, other", "True"},
    {"__ne__", "self, other", "False"},
    {"__lt__", "self, other", "True"},
    {"__gt__", "self, other", "False"},
    {"__le__", "self, other", "True"},
    {"__hash__", "self", "1"},
    {"__index__", "self", "1"},
    {"__int__", "self", "2"},
    {"__float__", "self", "0.5"},
    {"__bool__", "self", "True"},
    {"__len__", "self", "2"},
    {"__iter__", "self", "iter([1, 2])"},
    {"__next__", "self", "1"},
    {"__contains__", "self, other", "True"},
    {"__getitem__", "self, key", "key"},
    {"__setitem__", "self, key, value", "None"},
    {"__delitem__", "self, key", "None"},
    {"__call__", "self, *args", "1"},
    {"__repr__", "self", "'E()'"},
    {"__str__", "self", "'e'"},
    {"__format__", "self, spec", "'e'"},
    {"__add__", "self, other", "other"},
    {"__radd__", "self, other", "other"},
    {"__iadd__", "self, other", "self"},
    {"__mul__", "self, other", "1"},
    {"__rmul__", "self, other", "1"},
    {"__sub__", "self, other", "1"},
    {"__mod__", "self, other", "1"},
    {"__or__", "self, other", "1"},
    {"__neg__", "self", "1"},
    {"__abs__", "self", "1"},
    {"__round__", "self, n=None", "1"},
    {"__enter__", "self", "1"},
    {"__exit__", "self, *args", "True"},
    {"__getattr__", "self, name", "1"},
    {"__setattr__", "self, name, value", "None"},
    {"__delattr__", "self, name", "None"},
    {"__copy__", "self", "self"},
    {"__deepcopy__", "self, memo", "self"},
    {"__reversed__", "self", "iter([1])"},
    {"__instancecheck__", "self, other", "True"},
    {"__missing__", "self, key", "key"},
    {"keys", "self", "['a']"},
});

class Writer {
 public:
  explicit Writer(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::string program() {
    line("import bisect, collections, copy, functools, gc, heapq, itertools, json, math, operator");
    line("P = collections.namedtuple('P', 'a b')");
    line("count = 0");
    line("c = d = None");
    function("f", "*args", pick(kValues), 0);
    line("def g():");
    change(1);
    line("    yield E()");
    line("    for x in [1, E()]:");
    change(2);
    line("        yield x");
    for (const std::string_view base : {"E", "L(list)", "D(dict)"}) {
      line("class " + std::string(base) + ":");
      line("    own = 1");
      for (std::size_t n = 1 + next() % 5; n > 0; --n) {
        const Special& special = kSpecials[next() % kSpecials.size()];
        function(special.name, special.parameters, next() % 4 == 0 ? pick(kValues) : special.result,
                 1);
      }
    }
    line("c = " + fill(pick(kContainers)));
    line("d = " + fill(pick(kContainers)));
    for (std::size_t n = 0; n < 12 && (n < 2 || at_ < bytes_.size()); ++n) {
      line("try:");
      statement();
      line("except Exception as error:");
      line("    kept = error");
    }
    return std::move(text_);
  }

 private:
  std::uint8_t next() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  template <std::size_t kCount>
  std::string_view pick(const std::array<std::string_view, kCount>& from) {
    return from[next() % kCount];
  }
  void line(const std::string& text) { text_ += text + "\n"; }

  /// A template with its $ filled in; deep ones end in constants.
  std::string fill(std::string_view pattern) {
    std::string out;
    ++depth_;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] != '$' || i + 1 == pattern.size()) {
        out += pattern[i];
        continue;
      }
      out += placeholder(pattern[++i]);
    }
    --depth_;
    return out;
  }
  std::string placeholder(char kind) {
    const bool deep = depth_ > 3;
    switch (kind) {
      case 'c':
        return next() % 8 == 0 && !deep ? fill(pick(kContainers)) : "c";
      case 'd':
        return next() % 8 == 0 && !deep ? fill(pick(kContainers)) : "d";
      case 'e':
        return next() % 8 == 0 ? "c" : "E()";
      case 'i':
        return deep ? "1" : fill(pick(kIndices));
      case 's':
        return std::string(pick(kTexts));
      case 'f':
        return "f";
      default:
        return deep ? "0" : fill(pick(kValues));
    }
  }

  /// What changes a container, every few calls only: what changes at once is seen at once.
  void change(std::size_t indent) {
    const std::string margin(4 * indent, ' ');
    line(margin + "global c, d, count");
    line(margin + "count += 1");
    line(margin + "if count % " + std::to_string(1 + next() % 4) + " == 0 and count < 200:");
    const std::string_view pattern = pick(kChanges);
    const bool is_statement = pattern.find(" = ") != std::string_view::npos ||
                              pattern.find("= ") != std::string_view::npos ||
                              pattern.starts_with("del") || pattern.starts_with("raise") ||
                              pattern == "pass";
    std::string text;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] == '$') {
        text += next() % 4 == 0 ? "d" : "c";
        ++i;
      } else {
        text += pattern[i];
      }
    }
    if (is_statement && text.starts_with("raise")) {
      line(margin + "    " + text);
      return;
    }
    line(margin + "    try: " + text);
    line(margin + "    except Exception: pass");
  }

  void function(std::string_view name, std::string_view parameters, std::string_view result,
                std::size_t indent) {
    const std::string margin(4 * indent, ' ');
    line(margin + "def " + std::string(name) + "(" + std::string(parameters) + "):");
    change(indent + 1);
    line(margin + "    return " + fill(result));
  }

  void statement() {
    const std::uint8_t kind = next();
    if (kind % 8 == 0) {
      line("    match " + fill("$c") + ":");
      line("        case " + std::string(pick(kMatches)) + ":");
      line("            a = 1");
      line("        case _:");
      line("            a = 2");
      return;
    }
    const bool is_compound = kind % 8 == 1;
    const std::string_view pattern = is_compound ? pick(kStatements) : pick(kOperations);
    const std::size_t inner = pattern.find('@');
    if (inner == std::string_view::npos) {
      line("    " + fill(pattern));
      return;
    }
    line("    " + fill(pattern.substr(0, inner)));
    change_inline();
    if (pattern.ends_with("break")) line("        break");
  }
  void change_inline() {
    line("        count += 1");
    line("        if count > 60: raise IndexError");
    line("        try: " + fill(pick(kOperations)));
    line("        except Exception: pass");
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::string text_;
};

}  // namespace

std::string reentrant_program(std::span<const std::uint8_t> bytes) {
  return Writer(bytes).program();
}

}  // namespace tidemark::lang

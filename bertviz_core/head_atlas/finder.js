// Heads that an expression finds, as "previous > 0.5 and entropy < 2": the language of overview/finder.py, whose grammar
// is in that file. A head without a number that the expression names is never found.

const LONGEST = 300; // characters
const DEEPEST = 20; // parentheses inside each other
const BETWEEN = "[\\s_()\\[\\],:×\\-]+"; // what may stand between the words of a name
const PARTS = /\s*(?:(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:\s*%)?)(?![\w.])|(<=|>=|!=|==|[<>=()≤≥≠])|"([^"]*)"|(\[?[a-z_]\w*\]?))/iy;
const KINDS = ["number", "sign", "quoted", "word"];
const TYPESET = { "≤": "<=", "≥": ">=", "≠": "!=", "==": "=" };
const COMPARE = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

function simplified(name) {
  return (name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");
}

// What matches the longest of the names, however their words are joined
function namePattern(names, flags, before) {
  const known = Object.keys(names).filter((name) => name && !["and", "or", "not"].includes(name));
  known.sort((a, b) => b.length - a.length);
  const written = known.map((name) => name.split(" ").join(BETWEEN)).join("|") || "(?!)";
  return new RegExp(`${before}(\\[?(?:${written})(?![\\p{L}\\p{N}_])\\]?)`, flags);
}

class Finder {
  // names: name -> column; numbers: column -> a number, or null, of each head; words: column -> a text of each head
  constructor({ names, numbers, words, heads }) {
    Object.assign(this, { names, numbers, words, size: heads.length });
    this.pattern = namePattern(names, "iuy", "\\s*");
    this.anywhere = namePattern(names, "giu", "(?<![\\p{L}\\p{N}_])");
  }

  // Whether each head is found; throws an Error that says what cannot be read, and where
  find(text) {
    if (!text.trim()) return Array(this.size).fill(true);
    if (text.length > LONGEST) throw Error(`An expression has at most ${LONGEST} characters.`);
    [this.text, this.at, this.depth, this.lacking] = [text, 0, 0, Array(this.size).fill(false)];
    this.tokens = this.split(text.trimEnd());
    const found = this.expression();
    if (this.next.kind !== "end") this.fail(`"${this.next.text}" is not expected`, this.next);
    return found.map((is, head) => is && !this.lacking[head]);
  }

  // The columns that an expression names, in its order
  columnsIn(text) {
    const named = [...text.matchAll(this.anywhere)].map((match) => this.names[simplified(match[1])]);
    return [...new Set(named)];
  }

  split(rest) {
    const tokens = [];
    for (let position = 0; position < rest.length; ) {
      const token = this.nameAt(position) ?? this.partAt(rest, position);
      tokens.push(token);
      position = token.end;
    }
    return [...tokens, { kind: "end", text: "the end", start: rest.length }];
  }

  nameAt(position) {
    this.pattern.lastIndex = position;
    const match = this.pattern.exec(this.text);
    if (!match) return null;
    let [end, text] = [this.pattern.lastIndex, match[1]];
    const isOpen = text.split("(").length > text.split(")").length;
    if (isOpen && this.text[end] === ")") [end, text] = [end + 1, `${text})`];
    return { kind: "name", text, start: end - text.length, end };
  }

  partAt(rest, position) {
    PARTS.lastIndex = position;
    const match = PARTS.exec(rest);
    if (!match) {
      const start = rest.length - rest.slice(position).trimStart().length;
      this.fail(`"${String.fromCodePoint(rest.codePointAt(start))}" cannot be read`, { start });
    }
    const place = match.slice(1).findIndex((part) => part !== undefined), text = match[place + 1], lower = text.toLowerCase();
    const kind = ["and", "or", "not"].includes(lower) ? lower : KINDS[place];
    const start = PARTS.lastIndex - text.length - (kind === "quoted" ? 1 : 0); // a closing quotation mark is no part of it
    return { kind, text, start, end: PARTS.lastIndex };
  }

  get next() {
    return this.tokens[this.at];
  }

  take(kind) {
    const isNext = this.next.kind === kind;
    this.at += isNext;
    return isNext;
  }

  expression() {
    let found = this.term();
    while (this.take("or")) {
      const other = this.term();
      found = found.map((is, head) => is || other[head]);
    }
    return found;
  }

  term() {
    let found = this.factor();
    while (this.take("and")) {
      const other = this.factor();
      found = found.map((is, head) => is && other[head]);
    }
    return found;
  }

  factor() {
    let isNegative = false;
    while (this.take("not")) isNegative = !isNegative;
    const found = this.next.kind === "sign" && this.next.text === "(" ? this.inside() : this.comparison();
    return isNegative ? found.map((is) => !is) : found;
  }

  inside() {
    const opened = this.next;
    this.at++;
    if (++this.depth > DEEPEST) this.fail(`More than ${DEEPEST} parentheses are inside each other`, opened);
    const found = this.expression();
    this.depth--;
    if (this.next.text !== ")") this.fail("This parenthesis is not closed", opened);
    this.at++;
    return found;
  }

  comparison() {
    if (this.next.kind === "name" && this.words[this.names[simplified(this.next.text)]]) return this.hasWords();
    let left = this.side();
    if (!this.operator) this.fail(`Instead of "${this.next.text}" one of < <= > >= = != is expected`, this.next);
    let found = Array(this.size).fill(true);
    while (this.operator) {
      const holds = this.operator;
      this.at++;
      const right = this.side();
      found = found.map((is, head) => is && holds(left[head], right[head]));
      left = right;
    }
    return found;
  }

  hasWords() {
    const texts = this.words[this.names[simplified(this.next.text)]];
    const [sign, role] = [this.tokens[this.at + 1], this.tokens[Math.min(this.at + 2, this.tokens.length - 1)]];
    const equal = TYPESET[sign.text] ?? sign.text;
    if (!["=", "!="].includes(equal)) this.fail(`Instead of "${sign.text}" one of = != is expected`, sign);
    if (role.kind !== "quoted") this.fail(`Instead of "${role.text}" a role in quotation marks is expected`, role);
    this.at += 3;
    return texts.map((text) => text.split(", ").map(simplified).includes(simplified(role.text)) === (equal === "="));
  }

  get operator() {
    return this.next.kind === "sign" ? COMPARE[TYPESET[this.next.text] ?? this.next.text] : undefined;
  }

  // The numbers of a column, or one number for all heads
  side() {
    const token = this.next;
    this.at++;
    if (token.kind === "number") {
      const isShare = token.text.endsWith("%");
      return Array(this.size).fill(parseFloat(token.text) / (isShare ? 100 : 1));
    }
    if (token.kind === "name") return this.column(token.text, token);
    this.at--;
    const words = [];
    while (this.next.kind === "word" || (words.length && this.next.kind === "number" && /^\d+$/.test(this.next.text))) {
      words.push(this.next.text);
      this.at++;
    }
    if (!words.length) this.fail(`Instead of "${token.text}" a number or the name of a column is expected`, token);
    return this.column(words.join(" "), token);
  }

  column(written, token) {
    const column = this.names[simplified(written)];
    if (this.words[column]) this.fail(`"${written}" holds words, not numbers: write ${written} = "…"`, token);
    const values = this.numbers[column];
    if (!values) this.fail(`There is no column "${written}"`, token);
    values.forEach((value, head) => (this.lacking[head] ||= value === null));
    return values;
  }

  fail(what, { start }) {
    throw Error(`${what} (at character ${[...this.text.slice(0, start)].length + 1}).`);
  }
}

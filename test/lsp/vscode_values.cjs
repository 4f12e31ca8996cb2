/* oxlint-disable typescript/no-extraneous-class -- the real module has classes, and they are derived from */
// The classes of VS Code that the extension makes values of.
const { pathToFileURL, fileURLToPath } = require('node:url');

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(...given) {
    const [start, end] =
      given.length === 2 ? given : [new Position(given[0], given[1]), new Position(given[2], given[3])];
    Object.assign(this, { start, end });
  }
}
class Uri {
  constructor(href) {
    this.href = href;
    this.scheme = new URL(href).protocol.slice(0, -1);
    this.path = this.scheme === 'file' ? fileURLToPath(href) : href;
    this.fsPath = this.path;
  }
  static file(path) {
    return new Uri(pathToFileURL(path).href);
  }
  static parse(href) {
    return new Uri(href);
  }
  toString() {
    return this.href;
  }
  with() {
    return this;
  }
}
class Disposable {
  constructor(does) {
    this.does = does;
  }
  dispose() {
    this.does?.();
  }
  static from(...all) {
    return new Disposable(() => all.forEach((each) => each.dispose()));
  }
}
class EventEmitter {
  #listeners = new Set();
  event = (listener, self, all) => {
    const bound = self === undefined ? listener : listener.bind(self);
    this.#listeners.add(bound);
    const made = new Disposable(() => this.#listeners.delete(bound));
    all?.push(made);
    return made;
  };
  fire(value) {
    for (const each of this.#listeners) each(value);
  }
  dispose() {
    this.#listeners.clear();
  }
}
class CancellationTokenSource {
  #emitter = new EventEmitter();
  token = { isCancellationRequested: false, onCancellationRequested: this.#emitter.event };
  cancel() {
    this.token.isCancellationRequested = true;
    this.#emitter.fire();
  }
  dispose() {}
}
class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}
class Location {
  constructor(uri, place) {
    Object.assign(this, { uri, range: place instanceof Position ? new Range(place, place) : place });
  }
}
class TestMessage {
  constructor(message) {
    this.message = message;
  }
  static diff(message, expected, received) {
    return Object.assign(new TestMessage(message), { expectedOutput: expected, actualOutput: received });
  }
}
class StatementCoverage {
  constructor(executed, location) {
    Object.assign(this, { executed, location });
  }
}
class FileCoverage {
  static fromDetails(uri, details) {
    const covered = details.filter(({ executed }) => executed > 0).length;
    return Object.assign(new FileCoverage(), { uri, statementCoverage: { covered, total: details.length } });
  }
}
class CodeActionKind {
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(this.value === '' ? part : `${this.value}.${part}`);
  }
  static Empty = new CodeActionKind('');
}
class TestRunRequest {
  constructor(include, exclude, profile, continuous) {
    Object.assign(this, { include, exclude, profile, continuous });
  }
}
class Items extends Map {
  constructor(parent) {
    super();
    this.parent = parent;
  }
  add(item) {
    item.parent = this.parent;
    this.set(item.id, item);
  }
  replace(items) {
    this.clear();
    for (const item of items) this.add(item);
  }
}

module.exports = {
  Position,
  Range,
  Uri,
  Disposable,
  EventEmitter,
  CancellationTokenSource,
  Diagnostic,
  Location,
  TestMessage,
  StatementCoverage,
  FileCoverage,
  CodeActionKind,
  TestRunRequest,
  Items,
};

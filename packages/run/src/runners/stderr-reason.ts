const MAX_REASON = 300;
/** The end of a long log is where a program says why it gave up. */
const MAX_LINES = 500;

/** How the usual languages name what ended them, at the start of a line: Python, Node, Java, .NET, Go, Rust, Ruby. */
const REASONS = [
  /^(?:Uncaught )?(?:[\w.$]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|Failure|Fault)\b(?: \[[\w.-]+\])?(?::|$)/,
  /^(?:Uncaught )?(?:Error|Exception)\b(?: \[[\w.-]+\])?(?::|$)/,
  /^(?:Exception in thread|Unhandled exception|Caused by:|panic:|fatal error:|thread '.*' panicked at)/i,
  /^\S+:\d+:in .+ \(\w+(?:Error|Exception)\)$/,
  /^\[?(?:FATAL|CRITICAL|ERROR)\b/,
];
/** What a runtime prints after the reason. */
const FAREWELL =
  /^(?:Node\.js v\d|note: run with|exit status \d|npm (?:ERR!|error)|During handling of|\s+at |\s*\^+\s*$|\}$)/;

/** `: the line of stderr that says why a program ended`, or nothing when it said nothing. */
export function reasonIn(stderr: string): string {
  const lines = stderr
    .trimEnd()
    .split(/\r?\n/)
    .slice(-MAX_LINES)
    .filter((line) => line.trim() !== '');
  const at = lines.findLastIndex((line) => REASONS.some((pattern) => pattern.test(line)));
  const line =
    at < 0 ? (lines.findLast((each) => !FAREWELL.test(each)) ?? lines.at(-1)) : lines[at];
  if (line === undefined) return '';
  // Rust puts the message below the place.
  const isPlace = /^thread '.*' panicked at .*:$/.test(line);
  const reason =
    isPlace && lines[at + 1] !== undefined ? `${line} ${lines[at + 1]!.trim()}` : line.trim();
  return `: ${reason.slice(0, MAX_REASON)}`;
}

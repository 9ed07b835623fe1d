const MAX_REASON = 300;
/** The reason is at the end of a long log. */
const MAX_LINES = 500;

/**
 * How common languages start the line with the fatal error: Python, Node, Java, .NET, Go, Rust,
 * Ruby.
 */
const REASONS = [
  /^(?:Uncaught )?(?:[\w.$]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|Failure|Fault)\b(?: \[[\w.-]+\])?(?::|$)/,
  /^(?:Uncaught )?(?:Error|Exception)\b(?: \[[\w.-]+\])?(?::|$)/,
  /^(?:Exception in thread|Unhandled exception|Caused by:|panic:|fatal error:|thread '.*' panicked at)/i,
  /^\S+:\d+:in .+ \(\w+(?:Error|Exception)\)$/,
  /^\[?(?:FATAL|CRITICAL|ERROR)\b/,
];
/** Lines that a runtime prints after the reason. */
const FAREWELL =
  /^(?:Node\.js v\d|note: run with|exit status \d|npm (?:ERR!|error)|During handling of|\s+at |\s*\^+\s*$|\}$)/;

/** `: the line of stderr with the reason`, or empty if stderr is. */
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
  // Rust prints the message below the location.
  const isPlace = /^thread '.*' panicked at .*:$/.test(line);
  const reason =
    isPlace && lines[at + 1] !== undefined ? `${line} ${lines[at + 1]!.trim()}` : line.trim();
  return `: ${reason.slice(0, MAX_REASON)}`;
}

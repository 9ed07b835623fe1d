import type { Problem, Problems } from '@agentci/lib/problems';
import { compileGlob } from '@agentci/lib/regex';
import { exactNameSlip, patternSlip } from '@agentci/lib/text';
import {
  keyPlace,
  locate,
  nodeAt,
  placeAt,
  placeInside,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
} from '@agentci/lib/yaml';
import type { ConstraintPlace } from './constraint.ts';
import { shown, unknownHint } from './issue.ts';
import type { NamePattern } from './policy.ts';
import { ELSEWHERE, NOT_ENFORCED } from './policy-keys.ts';

/** Reads the basic parts of a policy and reports errors. */
export class PolicyWords {
  /** Set if something was read that can fail, or was intended to. */
  decides = false;
  readonly #problems: Problems;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  issue(
    value: YamlNode,
    { path = [], part, offset, severity, code, message, hint }: Problem,
  ): void {
    const place = placeAt(value, path, part);
    const node = offset === undefined ? undefined : nodeAt(value, path);
    this.#problems.add(node === undefined ? place : placeInside(node, offset!), {
      severity,
      code,
      message,
      hint,
    });
  }

  /** A list of tool names or patterns. */
  patterns(entry: YamlEntry | undefined, name: string): readonly NamePattern[] {
    if (entry === undefined) return [];
    const { value } = entry;
    if (value.kind !== 'seq') {
      this.fail(value, 'POLICY_VALUE', `"${name}" must be a list of tools`);
      return [];
    }
    if (value.items.length === 0)
      this.fail(value, 'POLICY_CANNOT_FAIL', `"${name}" is empty, so it cannot fail`);
    return value.items.flatMap((item) => {
      if (item.kind === 'scalar' && typeof item.value === 'string' && item.value.trim() !== '') {
        this.slip(item, item.value, `in "${name}" `);
        return [
          {
            text: item.value,
            matches: compileGlob(item.value),
            place: locate(item.source, item.start),
          },
        ];
      }
      // A placeholder for a reported error was intended as a check.
      if (item.kind === 'scalar' && item.broken === true) this.decides = true;
      else
        this.fail(
          item,
          'POLICY_VALUE',
          `an entry of "${name}" must be the name of a tool, not ${shown(toPlain(item))}`,
        );
      return [];
    });
  }

  /** Reports an invalid tool name. It may have been intended as a check. */
  slip(place: YamlPlace, name: string, where = ''): void {
    const slip = patternSlip(name);
    if (slip === undefined) return;
    this.fail(
      place,
      'POLICY_BAD_PATTERN',
      `${shown(name)} ${where}matches no tool: ${slip.why}`,
      slip.hint,
    );
    this.decides = true;
  }

  /** Any name is valid as a key, and some tools have odd names, so this is only a warning. */
  oddKey(entry: YamlEntry): void {
    const slip = exactNameSlip(entry.key);
    if (slip === undefined) return;
    const message = `${shown(entry.key)} is hardly the name of a tool: ${slip.why}`;
    this.#problems.add(keyPlace(entry), {
      severity: 'warning',
      code: 'POLICY_ODD_NAME',
      message,
      hint: slip.hint,
    });
  }

  /** Descriptions must be text. */
  note(entry: YamlEntry | undefined): void {
    if (entry === undefined || entry.value.kind === 'scalar') return;
    this.fail(entry.value, 'POLICY_VALUE', `"${entry.key}" must be text`);
  }

  map(entry: YamlEntry | undefined): YamlMap | undefined {
    if (entry === undefined) return undefined;
    if (entry.value.kind === 'map') return entry.value;
    this.fail(entry.value, 'POLICY_VALUE', `"${entry.key}" must be a map`);
    return undefined;
  }

  unknown(entry: YamlEntry, where: string, known: readonly string[]): void {
    const { key } = entry;
    if (NOT_ENFORCED.has(key)) {
      const hint = 'remove it here; a recording of tool calls does not show it';
      this.fail(
        keyPlace(entry),
        'POLICY_NOT_ENFORCED',
        `"${key}" is not enforced, and must not look as if it were`,
        hint,
      );
      return;
    }
    const hint = ELSEWHERE.get(key) ?? unknownHint(key, known, 'the keys');
    this.fail(keyPlace(entry), 'POLICY_UNKNOWN_KEY', `${where} has no key "${key}"`, hint);
  }

  fail(place: YamlPlace, code: string, message: string, hint?: string): void {
    this.#problems.add(place, { code, message, hint });
  }
}

/** The location of a key. */
export function placeOfKey(entry: YamlEntry): ConstraintPlace {
  return locate(entry.keySource, entry.keyStart);
}

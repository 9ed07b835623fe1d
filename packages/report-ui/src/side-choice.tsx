import type { PageRun, PageVersion } from '@agentci/results';
import { useEffect, useState } from 'preact/hooks';
import { plural, time } from './format.ts';
import { fetchVersions } from './source.ts';
import { visible } from './visible-text.ts';

/** Selects the two sides of a comparison: finished runs or saved baseline versions. */
export function SideChoice({
  run,
  before,
  after,
  runs,
}: {
  run: string | undefined;
  before: string | undefined;
  /** A version that replaces the open run. */
  after: string | undefined;
  runs: readonly PageRun[];
}) {
  const versions = useVersions();
  const isVersion = (id: string) => versions.some((version) => version.id === id);
  const show = (chosen: {
    before?: string | undefined;
    run?: string | undefined;
    after?: string | undefined;
  }) => {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(chosen))
      if (value !== undefined) params.set(name, value);
    location.hash = `#/compare?${params.toString()}`;
  };
  const sides = { versions, runs: runs.filter(({ finished }) => finished) };
  return (
    <p class="choice">
      <label>
        Before{' '}
        <select
          aria-label="Before"
          value={before ?? ''}
          onChange={(event) => show({ before: event.currentTarget.value, run, after })}
        >
          <option value="">choose a run or a version</option>
          <Options {...sides} without={after ?? run} />
        </select>
      </label>
      <label>
        After{' '}
        <select
          aria-label="After"
          value={after ?? run ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            show(
              isVersion(value)
                ? { before: before ?? '', run, after: value }
                : { before: before ?? '', run: value },
            );
          }}
        >
          {run === undefined && <option value="">choose a version</option>}
          <Options {...sides} without={before} />
        </select>
      </label>
    </p>
  );
}

function useVersions(): readonly PageVersion[] {
  const [versions, setVersions] = useState<readonly PageVersion[]>([]);
  useEffect(() => {
    let isOver = false;
    void fetchVersions()
      .then((found) => !isOver && setVersions(found ?? []))
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, []);
  return versions;
}

function Options({
  runs,
  versions,
  without,
}: {
  runs: readonly PageRun[];
  versions: readonly PageVersion[];
  without: string | undefined;
}) {
  return (
    <>
      <optgroup label="Runs">
        {runs
          .filter(({ id }) => id !== without)
          .map(({ id, started_at, agent }) => (
            <option key={id} value={id}>
              {visible(`${time(started_at)} · ${agent} · ${id}`)}
            </option>
          ))}
      </optgroup>
      {versions.length > 0 && (
        <optgroup label="Baseline versions">
          {versions
            .filter(({ id }) => id !== without)
            .map(({ id, agent, version, queries, captured_at }) => (
              <option key={id} value={id}>
                {visible(
                  [
                    `baseline ${version}`,
                    agent,
                    plural(queries, 'query', 'queries'),
                    time(captured_at),
                  ]
                    .filter(Boolean)
                    .join(' · '),
                )}
              </option>
            ))}
        </optgroup>
      )}
    </>
  );
}

import { type CheckStatus, casesText, LAYERS, type QueryResult } from '@agentci/results';
import type { RefObject } from 'preact';
import { useMemo } from 'preact/hooks';
import { countStatuses, type Filters, NO_FILTERS, STATUSES, tagsOf } from './filters.ts';
import { count } from './format.ts';
import { Status } from './status.tsx';
import { visible } from './visible-text.ts';

const SORTS = [
  ['worst', 'failures first'],
  ['spec', 'order of the spec'],
  ['cost', 'most expensive first'],
  ['latency', 'slowest first'],
  ['tokens', 'most tokens first'],
] as const;

export function FilterBar({
  all,
  found,
  filters,
  onFilter,
  search,
}: {
  all: readonly QueryResult[];
  found: number;
  filters: Filters;
  onFilter: (filters: Filters) => void;
  search: RefObject<HTMLInputElement | null>;
}) {
  const tags = useMemo(() => tagsOf(all), [all]);
  const counts = useMemo(() => countStatuses(all, filters.layer), [all, filters.layer]);
  const toggle = (status: CheckStatus) => {
    const statuses = new Set(filters.statuses);
    if (!statuses.delete(status)) statuses.add(status);
    onFilter({ ...filters, statuses });
  };
  const isFiltered =
    filters.statuses.size > 0 || filters.layer !== '' || filters.tag !== '' || filters.text !== '';
  return (
    <div class="filters" role="search" aria-label="Filter queries">
      <input
        ref={search}
        type="search"
        value={filters.text}
        placeholder="Search in queries, ids, tags, answers and findings (press /)"
        aria-label="Search text"
        onInput={(event) => onFilter({ ...filters, text: event.currentTarget.value })}
      />
      <span class="found" role="status">
        {found === all.length ? casesText(all) : `${count(found)} of ${count(all.length)}`}
      </span>
      {isFiltered && (
        <button
          type="button"
          class="plain"
          onClick={() => onFilter({ ...NO_FILTERS, sort: filters.sort })}
        >
          Clear
        </button>
      )}
      <span class="break" />
      <fieldset class="chips">
        <legend class="sr">Status</legend>
        {STATUSES.map((status) => (
          <button
            type="button"
            key={status}
            class="chip"
            aria-pressed={filters.statuses.has(status)}
            onClick={() => toggle(status)}
          >
            <Status status={status} label={`${status} ${count(counts[status])}`} />
          </button>
        ))}
      </fieldset>
      <select
        aria-label="Layer the status is of"
        value={filters.layer}
        onChange={(event) =>
          onFilter({ ...filters, layer: event.currentTarget.value as Filters['layer'] })
        }
      >
        <option value="">any layer</option>
        {LAYERS.map((layer) => (
          <option key={layer} value={layer}>
            {layer}
          </option>
        ))}
      </select>
      {tags.length > 0 && (
        <select
          aria-label="Tag"
          value={filters.tag}
          onChange={(event) => onFilter({ ...filters, tag: event.currentTarget.value })}
        >
          <option value="">any tag</option>
          {tags.map((tag) => (
            <option key={tag} value={tag}>
              {visible(tag)}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label="Order"
        value={filters.sort}
        onChange={(event) =>
          onFilter({ ...filters, sort: event.currentTarget.value as Filters['sort'] })
        }
      >
        {SORTS.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

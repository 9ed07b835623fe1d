import { DirectedGraph } from 'graphology';
import { singleSourceLength } from 'graphology-shortest-path/unweighted.js';
import { clamp01, mean } from '../input.ts';

type Adjacency = ReadonlyMap<string, Iterable<string>> | Readonly<Record<string, Iterable<string>>>;

const DEFAULT_HUB_THRESHOLD = 0.7;
const BOTTLENECK_SHARE = 0.5;
/** Paths are not counted for more agents, because a search starts at each of them. */
const MAX_PATH_AGENTS = 2_000;

/**
 * The shape of the communication network. Scores are 0 to 1, and `raw()` has the values before
 * clamping.
 */
export class NetworkAnalyzer {
  readonly #graph = new DirectedGraph();
  readonly #agents: readonly string[];
  readonly #registered: ReadonlySet<string>;

  /** Unlisted agents take part in the traffic but are not counted. */
  constructor(adjacency: Adjacency, agents: readonly string[]) {
    this.#agents = [...new Set(agents)];
    this.#registered = new Set(this.#agents);
    for (const agent of this.#agents) this.#graph.mergeNode(agent);
    const entries =
      adjacency instanceof Map
        ? [...adjacency]
        : Object.entries(adjacency as Record<string, Iterable<string>>);
    for (const [from, targets] of entries)
      for (const to of targets) this.#graph.mergeEdge(from, to);
  }

  calculateDensity(): number {
    return clamp01(this.#density());
  }

  calculateCentralization(): number {
    return clamp01(this.#centralization());
  }

  /** How often the partners of an agent also talk to each other. */
  calculateClusteringCoefficient(): number {
    if (this.#agents.length <= 2) return 0;
    return mean(
      this.#agents.map((agent) => {
        const partners = this.#graph.outNeighbors(agent);
        if (partners.length <= 1) return 0;
        let linked = 0;
        for (const x of partners) {
          for (const y of partners) if (x !== y && this.#graph.hasDirectedEdge(x, y)) linked++;
        }
        return linked / (partners.length * (partners.length - 1));
      }),
    );
  }

  /** Mean length of the shortest paths between connected agents. Null if there are none. */
  calculateAvgPathLength(): number | null {
    if (this.#agents.length > MAX_PATH_AGENTS) return null;
    let sum = 0;
    let pairs = 0;
    for (const agent of this.#agents) {
      for (const [other, length] of Object.entries(singleSourceLength(this.#graph, agent))) {
        if (other === agent || !this.#registered.has(other)) continue;
        sum += length;
        pairs++;
      }
    }
    return pairs === 0 ? null : sum / pairs;
  }

  /** Agents that address nearly as many others as the busiest one. */
  findHubAgents(
    threshold: number | { readonly threshold?: number } = DEFAULT_HUB_THRESHOLD,
  ): string[] {
    const share =
      typeof threshold === 'number' ? threshold : (threshold.threshold ?? DEFAULT_HUB_THRESHOLD);
    const most = this.#mostAddressed();
    return most === 0
      ? []
      : this.#agents.filter((agent) => this.#graph.outDegree(agent) >= share * most);
  }

  /**
   * Agents that much of the traffic passes through: the product of their senders and recipients.
   */
  findBottleneckAgents(): string[] {
    if (this.#agents.length <= 2) return [];
    const passing = this.#agents.map(
      (agent) => this.#inDegree(agent) * this.#graph.outDegree(agent),
    );
    const most = passing.reduce((a, b) => Math.max(a, b), 0);
    return most === 0 ? [] : this.#agents.filter((_, i) => passing[i]! >= BOTTLENECK_SHARE * most);
  }

  calculateFaultTolerance(): number {
    return clamp01(this.#faultTolerance());
  }

  /** Values outside of 0 to 1, before clamping. */
  raw(): { density?: number; centralization?: number; value?: number } {
    const numbers = {
      value: this.#faultTolerance(),
      density: this.#density(),
      centralization: this.#centralization(),
    };
    return Object.fromEntries(
      Object.entries(numbers).filter(([, number]) => number !== clamp01(number)),
    );
  }

  #density(): number {
    const n = this.#agents.length;
    return n <= 1 ? 1 : this.#graph.size / (n * (n - 1));
  }

  #centralization(): number {
    const n = this.#agents.length;
    if (n <= 2) return 0;
    const most = this.#mostAddressed();
    const sum = this.#agents.reduce(
      (total, agent) => total + most - this.#graph.outDegree(agent),
      0,
    );
    return sum / ((n - 1) * (n - 2));
  }

  #faultTolerance(): number {
    const n = this.#agents.length;
    return n <= 1
      ? 1
      : faultTolerance({
          density: this.#density(),
          bottlenecks: this.findBottleneckAgents().length,
          agents: n,
        });
  }

  #mostAddressed(): number {
    return this.#agents.reduce((most, agent) => Math.max(most, this.#graph.outDegree(agent)), 0);
  }

  #inDegree(agent: string): number {
    return this.#graph.inNeighbors(agent).filter((from) => this.#registered.has(from)).length;
  }
}

/** AgentUnit's formula. */
export const faultTolerance = (parts: {
  readonly density: number;
  readonly bottlenecks: number;
  readonly agents: number;
}): number => 0.6 * parts.density + 0.4 * (1 - parts.bottlenecks / parts.agents);

/** The shapes of mem0's open-source `Memory`, by structure: nothing of mem0 is imported. */

export interface Message {
  role: string;
  content: string | { type: 'image_url'; image_url: { url: string } };
}

/** Whose memories a call is about. This facade holds those of one user; another `userId` is refused. */
export interface Entity {
  userId?: string;
  agentId?: string;
  runId?: string;
}

/** Conditions on memories, as Mem0 writes them; all given ones must hold. */
export interface SearchFilters {
  user_id?: string;
  agent_id?: string;
  run_id?: string;
  /** Metadata: a value, a list of values, `"*"`, operators (`eq ne gt gte lt lte in nin contains icontains`); and `AND`, `OR`, `NOT`. */
  [key: string]: any;
}

/** Whose turns are added, when they were said, and with what metadata. */
export interface AddMemoryOptions extends Entity {
  metadata?: { [key: string]: any };
  filters?: SearchFilters;
  /** True, the default: messages are stored as exchanges. False: each message is a memory of its own. */
  infer?: boolean;
  /** When it was said. */
  timestamp?: number | string | Date | null;
  /** Day (YYYY-MM-DD) after which it is left out. */
  expirationDate?: string | null;
}

/** Which memories are listed, and how many at most. */
export interface ListOptions extends Entity {
  topK?: number;
  /** Older name of `topK`. */
  limit?: number;
  filters?: SearchFilters;
  showExpired?: boolean;
}

/** Which memories a search may find, and how many at most. */
export interface SearchMemoryOptions extends ListOptions {
  /** What "last week" counts from. */
  referenceDate?: number | string | Date | null;
  threshold?: number;
  explain?: boolean;
  rerank?: boolean;
}

/** What a memory is changed to. */
export interface UpdateMemoryOptions {
  text?: string;
  data?: string;
  metadata?: { [key: string]: any };
  expirationDate?: string | null;
}

/** A memory in the shape of Mem0: a turn or a fact. Times are ISO 8601 text. */
export interface MemoryItem {
  id: string;
  memory: string;
  createdAt?: string;
  updatedAt?: string;
  /** 1 for the best of turns and of facts, then 1/2, 1/3 …: a rank, for the two are not measured alike. */
  score?: number;
  metadata?: { [key: string]: any };
  user_id?: string;
  agent_id?: string;
  run_id?: string;
}

/** What a search or a list gave. */
export interface SearchResult {
  results: MemoryItem[];
}

/** One change of a memory, oldest first. Times are ISO 8601 text. */
export interface HistoryRow {
  id: string;
  memory_id: string;
  previous_value: string | null;
  new_value: string | null;
  action: 'ADD' | 'UPDATE' | 'DELETE';
  created_at: string;
  updated_at: string;
  is_deleted: number;
}

/** The shapes of LangGraph's `BaseStore`, by structure: nothing of LangGraph is imported. */

export interface StoreItem {
  value: { [key: string]: any };
  key: string;
  namespace: string[];
  createdAt: Date;
  updatedAt: Date;
}

/** An item that a search found; `score` only orders, and is absent without a query. */
export interface StoreSearchItem extends StoreItem {
  /** From the memory's ranking, greater is better; absent for what the query did not find. Not a cosine. */
  score?: number;
}

export interface GetOperation {
  namespace: string[];
  key: string;
}

export interface PutOperation extends GetOperation {
  /** `null` deletes. */
  value: { [key: string]: any } | null;
  index?: false | string[];
}

export interface SearchOperation {
  namespacePrefix: string[];
  filter?: { [key: string]: any };
  limit?: number;
  offset?: number;
  query?: string;
}

export interface MatchCondition {
  matchType: 'prefix' | 'suffix';
  path: string[];
}

export interface ListNamespacesOperation {
  matchConditions?: MatchCondition[];
  maxDepth?: number;
  limit: number;
  offset: number;
}

/** One operation of `batch`. */
export type StoreOperation = GetOperation | PutOperation | SearchOperation | ListNamespacesOperation;

/** The store's name within its memory, and which fields of a value are searched. */
export interface MemstrataStoreOptions {
  /** Several stores in one memory are told apart by name. Default `"langgraph"`. */
  name?: string;
  /** Fields whose text a query searches; `"$"`, the default, is the whole value. */
  fields?: string[];
  /** Gives the times of items. Default `Date.now`. */
  now?: () => number;
}

import type { ConnectionResult } from 'memstrata/providers';
import { chatModel, type Endpoint } from './choice';

/** Asks the server once. Whatever goes wrong is a result. */
export async function tryConnection(endpoint: Endpoint, key: string): Promise<ConnectionResult> {
  try {
    const [model, { testConnection }] = await Promise.all([chatModel(endpoint, key), import('memstrata/providers')]);
    return await testConnection(model!);
  } catch (error) {
    return { ok: false, cause: 'unknown', message: error instanceof Error ? error.message : String(error) };
  }
}

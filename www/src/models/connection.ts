import type { testConnection } from 'memstrata/providers';
import { chatModel, type Endpoint } from './choice';

export type ConnectionResult = Awaited<ReturnType<typeof testConnection>>;
/** Why a model cannot be asked, as the package sees it. */
export type ConnectionCause = Extract<ConnectionResult, { ok: false }>['cause'];

/** Asks the server once. Whatever goes wrong is a result. */
export async function tryConnection(endpoint: Endpoint, key: string): Promise<ConnectionResult> {
  try {
    const [model, { testConnection }] = await Promise.all([chatModel(endpoint, key), import('memstrata/providers')]);
    return await testConnection(model!);
  } catch (error) {
    return { ok: false, cause: 'unknown', message: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * What wasm-bindgen writes beside this file at build time (`memory.js`, `memory_bg.wasm`). Written by hand, so that
 * the sources type-check before the first build and the contract has one home.
 */
import type { WasmMemoryConstructor } from '../engine/contract.js';

export const WasmMemory: WasmMemoryConstructor;
export function initSync(source: { module: WebAssembly.Module }): unknown;

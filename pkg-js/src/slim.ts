/** All of `memstrata` in one file that knows the address of no other: the caller brings the wasm file. */
export * from './index.js';

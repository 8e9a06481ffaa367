/** All of `memstrata` in one file, with the wasm file and the worker in it: for places where no second file can be had. */
export * from './index.js';

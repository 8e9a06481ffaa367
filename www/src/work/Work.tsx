import { Budget } from './Budget';
import { Figures } from './Figures';
import { Happened } from './Happened';
import { Ledger } from './Ledger';
import { Policy } from './Policy';
import { Queue } from './Queue';

export function Work() {
  return (
    <div class="stack">
      <Queue />
      <Policy />
      <Budget />
      <Ledger />
      <Happened />
      <Figures />
    </div>
  );
}

/**
 * Whether the focus is in a field whose content is nobody's business. It is put into the page by itself, so it must not use
 * anything from outside.
 */
export function inPrivateField(): boolean {
  let field: Element | null = document.activeElement;
  while (field?.shadowRoot?.activeElement) field = field.shadowRoot.activeElement;
  if (!field) return false;
  const told = [field, field.closest('form')].map((each) => each?.getAttribute('autocomplete')?.toLowerCase() ?? '').join(' ');
  if (/\b(current-password|new-password|one-time-code|cc-[a-z-]+|transaction-amount)\b/.test(told)) return true;
  if (!(field instanceof HTMLInputElement)) return false;
  // A password that is shown is a text field with another name.
  return field.type === 'password' || /passw|passcode|secret|token|otp|cvc|cvv|iban|card.?number|\bpin\b|\bssn\b/i.test(`${field.name} ${field.id} ${field.getAttribute('aria-label') ?? ''} ${field.placeholder}`);
}

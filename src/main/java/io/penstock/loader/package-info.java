/**
 * The loader: workers that collate batches into a ring of slots, the copy to the device, and the lease by which a
 * trainer holds a batch.
 *
 * <pre>
 *   workers ──fill──▶ HostSlot ring ──in order──▶ Delivery ──lease──▶ Batch ──close──▶ the slot is free again
 *                                                    │
 *                     InPlaceDelivery: the trainer is lent the host slot itself
 *                     CopyDelivery: one thread copies slots to device slots, ordered by events
 * </pre>
 *
 * <p>Everything is allocated when the loader is opened: the ring bounds memory, and being full is the backpressure.
 * {@link io.penstock.loader.DataLoader} is where to start.
 */
package io.penstock.loader;

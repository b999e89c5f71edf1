package io.penstock.dataset;

/**
 * How a field is made of a field of the same sample of another dataset.
 *
 * @param source the other dataset, with the same samples
 * @param field the field's position there
 * @param map what makes it
 * @param step what tells its random numbers from others': {@link io.penstock.sampling.KeyedRandom#step} of a name
 */
public record FieldMap(Dataset source, int field, SampleMap map, long step) {
}

-- Tenure, schema version 6: pages of lists that are told by an index alone.
--
-- A list is asked first which resources it has, how large they are and which change was the last of each; what a worker
-- remembers of those is not read again. All of that stands in this index, in the order of the list.
ALTER TABLE resources
  ADD KEY page (tenant_id, type_id, namespace, name, live, changed, bytes);
